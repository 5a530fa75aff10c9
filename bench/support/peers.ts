import Anthropic from '@anthropic-ai/sdk';
import { Octokit } from '@octokit/core';
import { createClient } from '@supabase/supabase-js';
import OpenAI from 'openai';
import Stripe from 'stripe';
import { Svix } from 'svix';

/** Returns calls that send a small read to a server at `url`, one for each other client. */
export function peerCalls(url: string): Readonly<Record<string, () => PromiseLike<unknown>>> {
  const { hostname, port } = new URL(url);
  const octokit = new Octokit({ baseUrl: url, auth: 'token' });
  const anthropic = new Anthropic({ baseURL: url, apiKey: 'key' });
  const openai = new OpenAI({ baseURL: url, apiKey: 'key' });
  const supabase = createClient(url, 'key', { auth: { persistSession: false, autoRefreshToken: false } });
  const stripe = new Stripe('sk_test_key', { host: hostname, port, protocol: 'http' });
  const svix = new Svix('testsk_key', { serverUrl: url });
  return {
    '@octokit/core': () => octokit.request('GET /api/v2/webhooks/index'),
    '@supabase/supabase-js': () => supabase.from('webhooks').select(),
    '@anthropic-ai/sdk': () => anthropic.models.list(),
    openai: () => openai.models.list(),
    svix: () => svix.application.list(),
    'stripe, on node:http': () => stripe.webhookEndpoints.list(),
  };
}
