/** Versions that the package is tested with. Each run installs them from npm into a temporary folder. */
export const NODES = ['22.12.0', '22.23.3', '24.21.0', '26.10.0'] as const;
export const TYPESCRIPTS = ['5.7.3', '5.9.3', '6.0.3', '7.0.2'] as const;
export const BUN = '1.4.5';
export const DENO = '2.9.6';
export const WORKERD = '1.20261117.1';
export const EDGE_RUNTIME = '4.0.1';
export const VITE = '8.3.8';
export const JEST = '30.5.2';
export const WEBPACK = '5.112.2';
export const ROLLUP = '4.67.4';

/** Versions of the peers, and of the SDK of OpenTelemetry: the lowest of each range, the last of earlier majors, the latest. */
export const PEERS = {
  lowest: {
    '@modelcontextprotocol/client': '2.1.0',
    '@modelcontextprotocol/sdk': '1.15.0',
    '@opentelemetry/api': '1.9.0',
    '@opentelemetry/sdk-trace': '2.9.0',
    ioredis: '5.0.0',
    msw: '2.0.0',
    open: '10.0.0',
    redis: '4.0.0',
  },
  earlier: {
    '@modelcontextprotocol/client': '2.2.0',
    '@modelcontextprotocol/sdk': '1.20.2',
    '@opentelemetry/api': '1.9.1',
    '@opentelemetry/sdk-trace': '2.12.1',
    ioredis: '5.11.1',
    // Later versions of msw 2 recognize handlers as msw 3 does.
    msw: '2.12.14',
    open: '10.2.0',
    redis: '5.12.1',
  },
  latest: {
    '@modelcontextprotocol/client': '2.4.0',
    '@modelcontextprotocol/sdk': '1.32.2',
    '@opentelemetry/api': '1.10.0',
    '@opentelemetry/sdk-trace': '3.1.1',
    ioredis: '6.0.0',
    msw: '3.0.5',
    open: '11.0.4',
    redis: '6.3.1',
  },
} as const;

/** Tools that read OpenAPI documents, and a TypeScript that all of them accept. */
export const OPENAPI_TOOLS = {
  '@hey-api/openapi-ts': '0.99.0',
  '@redocly/cli': '2.77.0',
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
  'edge-runtime': EDGE_RUNTIME,
  vite: VITE,
  webpack: WEBPACK,
  rollup: ROLLUP,
  '@rollup/plugin-node-resolve': '16.0.3',
};
