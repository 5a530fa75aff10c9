import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { apiReport, entries, reportPath } from '../../scripts/api-report.ts';

describe('the public API', () => {
  it.each(entries)('the public API of %s is the reviewed one', (entry) => {
    const reviewed = readFileSync(reportPath(entry), 'utf8');
    const advice = `The public API of ${entry} has changed: run \`npm run api\` and review ${reportPath(entry)}`;
    expect(apiReport(entry), advice).toBe(reviewed);
  });

  it.each(entries)('the public API of %s contains every export of the module', async (entry) => {
    const report = readFileSync(reportPath(entry), 'utf8');
    const values = Object.keys(await import(new URL(`../../dist/${entry}.js`, import.meta.url).href));
    expect(values.length).toBeGreaterThan(0);
    for (const name of values) expect(report).toMatch(new RegExp(`^export (?:class|const|function) ${name}\\b`, 'm'));
  });
});
