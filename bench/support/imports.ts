/** A typical import of one package. */
export interface Import {
  readonly name: string;
  readonly package: string;
  /** Code of a module that uses the import, so that no bundler removes it. */
  readonly code: string;
}

const importOf = (name: string, imported: string, value = 'Client', from = name): Import => ({
  name,
  package: /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from,
  code: `import ${imported} from '${from}'; globalThis.kept = ${value};`,
});

/** Usual imports of this client and of others. */
export const clientImports: readonly Import[] = [
  importOf('audience-activation', '{ AudienceClient as Client }'),
  importOf('@octokit/core', '{ Octokit as Client }'),
  importOf('stripe', 'Client'),
  importOf('@supabase/supabase-js', '{ createClient as Client }'),
  importOf('@anthropic-ai/sdk', 'Client'),
  importOf('openai', 'Client'),
];

/** Imports that verify webhooks. */
export const webhookImports: readonly Import[] = [
  importOf('audience-activation/webhooks', '{ verifyWebhook as Client }'),
  importOf('svix, `Webhook`', '{ Webhook as Client }', 'Client', 'svix'),
  importOf('stripe, `Stripe.webhooks`', 'Client', 'Client.webhooks', 'stripe'),
];

/** Returns the packages of imports, each once. */
export const packagesOf = (imports: readonly Import[]): string[] => [...new Set(imports.map((one) => one.package))];
