import { join } from 'node:path';
import { expectOutput, run } from './commands.ts';
import { type Projects, type Step, writeProgram } from './project.ts';
import { compile } from './types.ts';
import { OPENAPI_TOOLS, TYPESCRIPTS } from './versions.ts';

/** Path of the document in a project that the package is installed in. */
const DOCUMENT = 'node_modules/audience-activation/dist/openapi.json';
const ENV = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' };

/** Calls of the client that @hey-api/openapi-ts generates, and a handler of the events of a webhook. */
const GENERATED = `import { client } from '../generated/hey-api/client.gen.ts';
import { audiencesCreate, audiencesGet, type WebhookEvent } from '../generated/hey-api/index.ts';

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

const OPTIONS = {
  module: 'esnext',
  moduleResolution: 'bundler',
  lib: ['es2023', 'dom', 'dom.iterable'],
  exactOptionalPropertyTypes: false,
  skipLibCheck: true,
};

/** Steps that check the OpenAPI document with other tools, and use the client that a tool generates from it. */
export const openApiSteps = (projects: Projects): Step[] => {
  const use = async (tool: string, ...args: string[]): Promise<string> => {
    const cwd = await projects.project('with-openapi-tools', OPENAPI_TOOLS);
    await run(cwd, join(cwd, 'node_modules/.bin', tool), args, ENV);
    return cwd;
  };
  const titleOf = (name: keyof typeof OPENAPI_TOOLS): string => `${name} ${OPENAPI_TOOLS[name]}`;
  return [
    {
      name: `${titleOf('@redocly/cli')}: the OpenAPI document, by its strict rules`,
      work: () => use('redocly', 'lint', '--extends', 'recommended-strict', '--format', 'json', DOCUMENT),
    },
    {
      name: `${titleOf('@hey-api/openapi-ts')}: its client compiles, and creates and reads an audience`,
      async work() {
        const cwd = await use('openapi-ts', '-i', DOCUMENT, '-o', 'generated/hey-api', '-c', '@hey-api/client-fetch');
        const folder = await compile(projects, cwd, 'client', TYPESCRIPTS[1], {
          texts: { 'client.ts': GENERATED },
          options: OPTIONS,
        });
        await writeProgram(cwd, 'client.mjs', `import ${JSON.stringify(join(folder, 'client.ts'))};`);
        expectOutput('Visitors', await run(cwd, process.execPath, ['client.mjs', JSON.stringify(projects.service())]));
      },
    },
  ];
};
