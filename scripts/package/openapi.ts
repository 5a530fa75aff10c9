import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expectOutput, run } from './commands.ts';
import { type Projects, type Step, writeProgram } from './project.ts';
import { OPENAPI_TOOLS } from './versions.ts';

/** Path of the document in a project that the package is installed in. */
const DOCUMENT = 'node_modules/audience-activation/dist/openapi.json';
const ENV = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

/** Calls by the client that @hey-api/openapi-ts generates, and a handler of the events of a webhook. */
const GENERATED = `import { client } from './generated/hey-api/client.gen.ts';
import { audiencesCreate, audiencesGet, type WebhookEvent } from './generated/hey-api/index.ts';

const { baseUrl, token } = JSON.parse(process.argv[2] ?? '');
client.setConfig({ baseUrl, headers: { accept: 'application/json' }, auth: token });
const { data: created } = await audiencesCreate({ body: { name: 'Visitors' }, headers: { 'Idempotency-Key': 'key' } });
const { data: read } = await audiencesGet({ path: { id: created?.data[0]?.id ?? 0 } });
export const describe = (event: WebhookEvent): string | undefined => {
  if (event.type === 'audience.completed') return event.data.results_count.toFixed();
  return event.type === 'cohort.failed' ? event.data.total_eids.toFixed() : undefined;
};
console.log(read?.data[0]?.name satisfies string | undefined);
`;

const COMPILER_OPTIONS = {
  strict: true,
  skipLibCheck: true,
  noEmit: true,
  allowImportingTsExtensions: true,
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
};

/** Steps that check the OpenAPI document by other tools, and use what they generate from it. */
export const openApiSteps = ({ project, service }: Projects): Step[] => {
  const use = async (tool: string, ...args: string[]): Promise<string> => {
    const cwd = await project('with-openapi-tools', OPENAPI_TOOLS);
    await run(cwd, join(cwd, 'node_modules/.bin', tool), args, ENV);
    return cwd;
  };
  const compile = (...files: string[]): Promise<string> =>
    // Without the types of Node, which the project has of the version that a tool needs.
    use('tsc', ...Object.entries(COMPILER_OPTIONS).flatMap(([name, value]) => [`--${name}`, String(value)]), ...files);
  const titleOf = (name: keyof typeof OPENAPI_TOOLS): string => `${name} ${OPENAPI_TOOLS[name]}`;
  return [
    {
      name: `${titleOf('@redocly/cli')}: the OpenAPI document, by its strict rules`,
      work: () => use('redocly', 'lint', '--extends', 'recommended-strict', '--format', 'json', DOCUMENT),
    },
    {
      name: `${titleOf('@stoplight/spectral-cli')}: the OpenAPI document, without a hint`,
      async work() {
        const cwd = await project('with-openapi-tools', OPENAPI_TOOLS);
        await writeFile(join(cwd, 'rules.yaml'), 'extends: ["spectral:oas"]\n');
        await use('spectral', 'lint', '-r', 'rules.yaml', '--fail-severity=hint', DOCUMENT);
      },
    },
    {
      name: `${titleOf('openapi-typescript')}: its types compile`,
      async work() {
        await use('openapi-typescript', DOCUMENT, '-o', 'generated/schema.ts');
        await compile('generated/schema.ts');
      },
    },
    {
      name: `${titleOf('@hey-api/openapi-ts')}: its client compiles, and creates and reads an audience`,
      async work() {
        const cwd = await use('openapi-ts', '-i', DOCUMENT, '-o', 'generated/hey-api', '-c', '@hey-api/client-fetch');
        const declared = 'declare const process: { readonly argv: readonly string[] };\n';
        await writeFile(join(cwd, 'client.ts'), `${declared}${GENERATED}`);
        await compile('client.ts');
        await writeProgram(cwd, 'client.mjs', `import ${JSON.stringify(join(cwd, 'client.ts'))};`);
        expectOutput('Visitors', await run(cwd, process.execPath, ['client.mjs', JSON.stringify(service())]));
      },
    },
  ];
};
