/** Returns a program for each client that sends one small read to a server at `url`, and exits after the response. */
export function firstResponses(url: string): Readonly<Record<string, string>> {
  const { hostname, port } = new URL(url);
  const programs = {
    'bare fetch': `await (await fetch('${url}/api/v2/webhooks/index')).json();`,
    'audience-activation': `import { AudienceClient } from 'audience-activation';
      await new AudienceClient({ baseUrl: '${url}', token: 'token' }).webhooks.list();`,
    '@octokit/core': `import { Octokit } from '@octokit/core';
      await new Octokit({ baseUrl: '${url}', auth: 'token' }).request('GET /api/v2/webhooks/index');`,
    stripe: `import Stripe from 'stripe';
      await new Stripe('sk_test_key', { host: '${hostname}', port: ${port}, protocol: 'http' }).webhookEndpoints.list();`,
    '@supabase/supabase-js': `import { createClient } from '@supabase/supabase-js';
      await createClient('${url}', 'key', { auth: { persistSession: false } }).from('webhooks').select();`,
    '@anthropic-ai/sdk': `import Anthropic from '@anthropic-ai/sdk';
      await new Anthropic({ baseURL: '${url}', apiKey: 'key' }).models.list();`,
    openai: `import OpenAI from 'openai'; await new OpenAI({ baseURL: '${url}', apiKey: 'key' }).models.list();`,
  };
  // Exit explicitly: connections that are kept open would delay the end of the process.
  return Object.fromEntries(Object.entries(programs).map(([name, code]) => [name, `${code} process.exit();`]));
}
