import type { ClientOptions } from '../../index.ts';
import { DRY_RUN } from './exit-codes.ts';
import type { Output } from './output.ts';
import { jsonText, printable } from './terminal.ts';

/** Placeholder for secrets in the requests that `--dry-run` prints. The command does not read the secrets. */
export const HIDDEN = '***';

/** Example address to print if no address is set. */
export const EXAMPLE_ADDRESS = 'https://api.example.com';

const SECRET_HEADERS: readonly string[] = ['authorization', 'service-signature'];

type Fetch = Exclude<ClientOptions['fetch'], undefined>;

/** Returns a `fetch` that prints requests instead of sending them, and rejects. */
export const dryRunFetch =
  (output: Output): Fetch =>
  async (input, { method = 'GET', headers, body } = {}) => {
    const { href: url } = new URL(input instanceof Request ? input.url : String(input));
    const fields = [...new Headers(headers)].map(
      ([name, value]) => [name, SECRET_HEADERS.includes(name) ? value.replace(/\S+$/, HIDDEN) : value] as const,
    );
    const content = body ? parsed(await new Response(body).text()) : undefined;
    if (output.isJson) {
      // Ignore `--fields`, which names fields of the resource.
      const record = { dry_run: true, method, url, headers: Object.fromEntries(fields), body: content ?? null };
      await output.line(jsonText(record));
    } else {
      const lines = [`${method} ${url}`, ...fields.map(([name, value]) => `${name}: ${value}`)].map(printable);
      const text = content === undefined ? [] : ['', jsonText(content, output.stdout.isTTY ? 2 : 0)];
      await output.line([...lines, ...text, ''].join('\n'));
    }
    throw Object.assign(new Error('The request was printed.'), { name: DRY_RUN });
  };

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** Returns the options of a client that prints its requests instead of sending them. */
export const dryRunOptions = (output: Output) => ({ fetch: dryRunFetch(output), maxRetries: 0 }) as const;
