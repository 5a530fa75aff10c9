/** Connects an official MCP client that was loaded by `require`, and prints the names of the tools it lists. */
const { connectMcp } = require('audience-activation/mcp');

const [specifier, baseUrl, token] = process.argv.slice(2);
const { Client } = require(specifier);

connectMcp({ baseUrl, token, client: new Client({ name: 'commonjs', version: '1' }) })
  .then(async (client) => {
    const { tools } = await client.listTools();
    await client.close();
    console.log(JSON.stringify(tools.map(({ name }) => name)));
  })
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
