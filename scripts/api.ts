import { mkdirSync, writeFileSync } from 'node:fs';
import { apiReport, entries, reportPath } from './api-report.ts';
import { writePackageTexts } from './package-texts.ts';

/**
 * Writes the public API of the built package to `api`, where a review sees its changes, and then the package's texts.
 */
mkdirSync('api', { recursive: true });
for (const entry of entries) writeFileSync(reportPath(entry), apiReport(entry));
writePackageTexts();
