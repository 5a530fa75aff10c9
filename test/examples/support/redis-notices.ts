/** Returns the error output of an example without what the limiter logs when Redis takes longer than a second to respond. */
export const withoutRedisNotices = (stderr: string): string =>
  stderr.replaceAll(/^Redis (?:failed, so|responds again:) .*\n/gm, '');
