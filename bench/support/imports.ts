/** What a program imports of one package. */
export interface Import {
  readonly name: string;
  readonly package: string;
  /** A module that takes the import and keeps it. */
  readonly code: string;
}

const importOf = (name: string, imported: string, kept = 'Client', from = name): Import => ({
  name,
  package: /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? from,
  code: `import ${imported} from '${from}'; globalThis.kept = ${kept};`,
});

/** The usual import of this client and of others. */
export const clientImports: readonly Import[] = [
  importOf('audience-activation', '{ AudienceClient as Client }'),
  importOf('@octokit/core', '{ Octokit as Client }'),
  importOf('stripe', 'Client'),
  importOf('@supabase/supabase-js', '{ createClient as Client }'),
  importOf('@anthropic-ai/sdk', 'Client'),
  importOf('openai', 'Client'),
];

/** What it takes to verify webhooks. */
export const webhookImports: readonly Import[] = [
  importOf('audience-activation/webhooks', '{ verifyWebhook as Client }'),
  importOf('svix, `Webhook`', '{ Webhook as Client }', 'Client', 'svix'),
  importOf('stripe, `Stripe.webhooks`', 'Client', 'Client.webhooks', 'stripe'),
];

/** The packages of some imports, each once. */
export const packagesOf = (imports: readonly Import[]): string[] => [...new Set(imports.map((one) => one.package))];
