// Loaded by `--require` into the processes of bench/cli.ts: writes their CPU milliseconds to file descriptor 3.
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  require('node:fs').writeSync(3, String((user + system) / 1_000));
});
