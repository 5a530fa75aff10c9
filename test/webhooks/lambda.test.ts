import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createWebhookReceiver, signWebhook, type WebhookReceiver } from '../../src/webhooks/index.ts';
import { recordingLogger, SECRET, wireEvent } from '../support/deliveries.ts';

type Handler = (event: object) => Promise<{ readonly statusCode: number }>;

/** Returns the handler for AWS Lambda that the guide shows. */
function handlerOf(receiver: WebhookReceiver): Handler {
  const [block = ''] = /export async function handler.*?\n}\n/s.exec(readFileSync('docs/webhooks.md', 'utf8')) ?? [];
  return new Function('receiver', `return ${block.replace('export ', '')}`)(receiver);
}

/** Returns an event as a function URL, or API Gateway with payload 2.0, passes it. */
const lambdaEvent = (body: string | undefined, signature: string, isBase64Encoded: boolean, method = 'POST') => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: '/',
  rawQueryString: '',
  headers: {
    'content-type': 'application/json',
    'content-length': String(body?.length ?? 0),
    'service-signature': signature,
    'x-forwarded-for': '203.0.113.7',
    'x-forwarded-proto': 'https',
    host: 'abc123.lambda-url.eu-central-1.on.aws',
  },
  requestContext: {
    accountId: 'anonymous',
    apiId: 'abc123',
    domainName: 'abc123.lambda-url.eu-central-1.on.aws',
    http: { method, path: '/', protocol: 'HTTP/1.1', sourceIp: '203.0.113.7', userAgent: 'service' },
    requestId: 'e1506fd5-9e7b-434f-bd42-4f8fa224b599',
    routeKey: '$default',
    stage: '$default',
    time: '12/Mar/2026:19:03:58 +0000',
    timeEpoch: 1_773_342_238_000,
  },
  ...(body !== undefined && { body }),
  isBase64Encoded,
});

it.each([false, true])(
  'the handler of the guide for AWS Lambda verifies a body, in base64: %s',
  async (isBase64Encoded) => {
    const seen: number[] = [];
    const logger = recordingLogger();
    const on = { 'audience.completed': ({ data }: { data: { id: number } }) => void seen.push(data.id) };
    const handler = handlerOf(createWebhookReceiver({ secrets: SECRET, on, logger }));
    const text = JSON.stringify(wireEvent('evt_1', { name: 'Ümläut' }));
    const body = isBase64Encoded ? Buffer.from(text).toString('base64') : text;
    const signature = await signWebhook(text, SECRET);
    expect(await handler(lambdaEvent(body, signature, isBase64Encoded))).toEqual({ statusCode: 200 });
    expect(seen).toEqual([42]);
    expect(await handler(lambdaEvent(body, 't=1,v1=0', isBase64Encoded))).toEqual({ statusCode: 400 });
    expect(await handler(lambdaEvent(undefined, signature, false, 'GET'))).toEqual({ statusCode: 405 });
  },
);
