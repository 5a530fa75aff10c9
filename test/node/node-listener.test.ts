import 'reflect-metadata';
import { createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { format } from 'node:util';
import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toNodeListener } from '../../src/node/index.ts';
import { createWebhookReceiver, signWebhook, type WebhookReceiver } from '../../src/webhooks/index.ts';
import { recordingLogger, SECRET, wireEvent } from '../support/deliveries.ts';
import { serve } from '../support/file-server.ts';

function start(maxBytes = 10_000): { readonly receiver: WebhookReceiver; readonly seen: number[] } {
  const seen: number[] = [];
  const on = {
    'audience.completed': ({ data }: { readonly data: { readonly id: number } }) => void seen.push(data.id),
  };
  const logger = recordingLogger();
  return { seen, receiver: createWebhookReceiver({ secrets: SECRET, on, maxBytes, logger }) };
}

/** Delivers an event over HTTP, in two pieces that cut a character in half. */
async function post(url: string, { name = 'Ümläut', signature = '' } = {}): Promise<number | undefined> {
  const bytes = new TextEncoder().encode(JSON.stringify(wireEvent('evt_1', { name })));
  const headers = {
    'content-type': 'application/json',
    'content-length': bytes.length,
    'service-signature': signature || (await signWebhook(bytes, SECRET)),
  };
  return new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST', headers, agent: false }, (response) => {
      resolve(response.statusCode);
      response.resume();
    });
    request.on('error', reject);
    const half = bytes.indexOf(0xc3) + 1;
    request.write(bytes.subarray(0, half), () => request.end(bytes.subarray(half)));
  });
}

/** Requests that every framework must handle. */
async function expectToWork(url: string, seen: readonly number[]): Promise<void> {
  expect(await post(url)).toBe(200);
  expect(seen).toEqual([42]);
  expect(await post(url, { signature: 't=1,v1=0' })).toBe(400);
  expect(await post(url, { name: 'x'.repeat(10_000) })).toBe(413);
  expect((await fetch(url)).status).not.toBe(200);
}

describe('toNodeListener', () => {
  it('reads the entire body, also with another listener on it', async () => {
    const { receiver, seen } = start();
    const listener = toNodeListener(receiver);
    let counted = 0;
    const { url } = await serve((request, response) => {
      request.on('data', (chunk: Buffer) => {
        counted += chunk.length;
      });
      listener(request, response);
    });
    expect(await post(url)).toBe(200);
    expect(seen).toEqual([42]);
    expect(counted).toBeGreaterThan(100);
  });

  it('serves node:http', async () => {
    const { receiver, seen } = start();
    const { url } = await serve(toNodeListener(receiver));
    await expectToWork(url, seen);
    expect((await fetch(url)).status).toBe(405);
  });

  it('survives methods that no `Request` can have, and responses of other listeners', async () => {
    const { receiver, seen } = start();
    const { url } = await serve((request, response) => {
      if (request.url === '/late') response.writeHead(504).end();
      toNodeListener(receiver)(request, response);
    });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = send(url, { method: 'TRACE', agent: false }, (response) => resolve(response.resume().statusCode));
      request.on('error', reject).end();
    });
    expect(status).toBe(405);
    expect(await post(`${url}/late`)).toBe(504);
    expect(await post(url)).toBe(200);
    expect(seen).toContain(42);
  });

  it.each(['bare', 'express.raw', 'express.text'])('serves Express 5, %s', async (parser) => {
    const { receiver, seen } = start();
    const app = express();
    if (parser === 'express.raw') app.use(express.raw({ type: 'application/json' }));
    if (parser === 'express.text') app.use(express.text({ type: 'application/json' }));
    app.post('/webhooks', toNodeListener(receiver));
    const { url } = await serve(app);
    await expectToWork(`${url}/webhooks`, seen);
  });

  it('reads `rawBody`, in which Cloud Functions and Firebase keep the bytes of a parsed body', async () => {
    const { receiver, seen } = start();
    const app = express();
    app.use(express.json({ verify: (request, _response, rawBody) => void Object.assign(request, { rawBody }) }));
    app.post('/webhooks', toNodeListener(receiver));
    const { url } = await serve(app);
    await expectToWork(`${url}/webhooks`, seen);
  });

  it('serves NestJS with `rawBody: true`', async () => {
    const { receiver, seen } = start();
    class Webhooks {
      receive(request: IncomingMessage, response: ServerResponse): void {
        toNodeListener(receiver)(request, response);
      }
    }
    // Without the syntax of decorators, which Node does not run.
    const { prototype } = Webhooks;
    Post()(prototype, 'receive', Object.getOwnPropertyDescriptor(prototype, 'receive') ?? {});
    Req()(prototype, 'receive', 0);
    Res()(prototype, 'receive', 1);
    Controller('webhooks')(Webhooks);
    class App {}
    Module({ controllers: [Webhooks] })(App);
    const app = await NestFactory.create(App, { rawBody: true, logger: false });
    onTestFinished(() => app.close());
    await app.listen(0, '127.0.0.1');
    await expectToWork(`${await app.getUrl()}/webhooks`, seen);
  });

  it('responds with 500 and logs one line with the fix after express.json()', async () => {
    const lines: string[] = [];
    const write = (...line: unknown[]): void => void lines.push(format(...line)); // as `console` does
    const receiver = createWebhookReceiver({ secrets: SECRET, logger: { warn: write, error: write } });
    const app = express();
    app.use(express.json());
    app.post('/webhooks', toNodeListener(receiver));
    const { url } = await serve(app);
    expect(await post(`${url}/webhooks`)).toBe(500);
    expect(lines).toEqual([
      expect.stringMatching(/^audience-activation: .* Put the receiver before `express\.json\(\)`.* of the route\.$/),
    ]);
  });

  it('serves Fastify 5', async () => {
    const { receiver, seen } = start();
    const app = fastify();
    onTestFinished(() => app.close());
    app.register(async (scope) => {
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _body, done) => done(null));
      scope.post('/webhooks', (request, reply) => {
        reply.hijack();
        toNodeListener(receiver)(request.raw, reply.raw);
      });
    });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    await expectToWork(`${url}/webhooks`, seen);
  });
});

describe('handle', () => {
  it('serves Hono', async () => {
    const { receiver, seen } = start();
    const app = new Hono();
    app.post('/webhooks', ({ req }) => receiver.handle(req.raw));
    const server = createServer(async (incoming, outgoing) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
      const body = incoming.method === 'GET' ? null : Buffer.concat(chunks);
      const url = `http://localhost${incoming.url}`;
      const response = await app.fetch(new Request(url, { method: incoming.method ?? 'GET', headers, body }));
      outgoing.writeHead(response.status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    await expectToWork(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, seen);
  });

  it('serves a route of Next', async () => {
    const { receiver, seen } = start();
    // app/webhooks/route.ts
    const POST = (request: Request): Promise<Response> => receiver.handle(request);
    const body = JSON.stringify(wireEvent('evt_1'));
    const headers = { 'service-signature': await signWebhook(body, SECRET) };
    expect((await POST(new Request('http://localhost/webhooks', { method: 'POST', headers, body }))).status).toBe(200);
    expect(seen).toEqual([42]);
  });
});
