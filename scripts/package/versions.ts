/** Versions that the package is tested with. Each run installs them from npm into a temporary folder. */
export const NODES = ['22.12.0', '22.23.3', '24.21.0', '26.10.0'] as const;
export const TYPESCRIPTS = ['5.9.3', '6.0.3', '7.0.2'] as const;
export const BUN = '1.4.5';
export const DENO = '2.9.6';
export const WORKERD = '1.20261117.1';
export const VITE = '8.3.8';
export const JEST = '30.5.2';
export const WEBPACK = '5.112.2';

/** Version of the peer that the entry `otel` needs. */
export const OPENTELEMETRY_API = '1.9.0';

/** Tools that read OpenAPI documents, and a TypeScript that all of them accept. */
export const OPENAPI_TOOLS = {
  '@hey-api/openapi-ts': '0.99.0',
  '@redocly/cli': '2.77.0',
  '@stoplight/spectral-cli': '6.16.3',
  'openapi-fetch': '0.17.0',
  'openapi-typescript': '7.13.0',
  typescript: '5.9.3',
} as const;

/** Returns an alias for a version, because the project of tools has several versions of one package. */
export const nodeAlias = (version: string): string => `node-${version}`;
export const typescriptAlias = (version: string): string => `typescript-${version}`;

/** Dependencies of the project of tools. */
export const TOOLS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(NODES.map((version) => [nodeAlias(version), `npm:node@${version}`])),
  ...Object.fromEntries(TYPESCRIPTS.map((version) => [typescriptAlias(version), `npm:typescript@${version}`])),
  bun: BUN,
  deno: DENO,
  workerd: WORKERD,
  vite: VITE,
  webpack: WEBPACK,
};
