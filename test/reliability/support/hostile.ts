import { gzipSync } from 'node:zlib';
import { wireAudience } from '../../support/wire-audience.ts';

/** A response that no service should send. */
export interface HostileResponse {
  readonly status: number;
  readonly body: string;
}

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const refusal = (errors: string): string =>
  `{"status":"error","code":422,"message":"Invalid.","data":[],"errors":${errors}}`;
const success = (data: string): string => `{"status":"success","code":200,"message":"","data":${data}}`;

/** Functions that return texts of about `size` characters which are slow to search or hard to parse. */
const TEXTS: readonly [(size: number) => string, ...((size: number) => string)[]] = [
  (size) => 'http://'.repeat(size / 7),
  (size) => 'https:\\/\\/'.repeat(size / 10),
  (size) => `http://${'a@'.repeat(size / 2)}`,
  (size) => 'bearer '.repeat(size / 7),
  (size) => `bearer${' '.repeat(size)}x`,
  (size) => `${' '.repeat(size)}x.`,
  (size) => '"token":"'.repeat(size / 9),
  (size) => `{"token":"${'a'.repeat(size)}`,
  (size) => `{"token":"${'\\'.repeat(size)}`,
  (size) => `"${'_token'.repeat(size / 6)}`,
  (size) => '<'.repeat(size),
  (size) => nested(size / 2),
  (size) => '{"a":'.repeat(size / 5),
  (size) => `data: x\n\n`.repeat(size / 9),
  (size) => '.'.repeat(size),
  (size) => '\u0000'.repeat(size),
];

/** Functions that return a response body with one of these texts, and the statuses with which each is read differently. */
const BODIES_WITH_TEXT: readonly (readonly [statuses: readonly number[], body: (text: string) => string])[] = [
  [[200, 422, 502], (text) => text],
  [[200, 502], (text) => JSON.stringify({ status: 'error', code: 500, message: text, data: [] })],
  [[422], (text) => refusal(JSON.stringify({ name: [text], [text]: ['taken'] }))],
  [[200], (text) => success(JSON.stringify([{ ...wireAudience(), name: text, [text]: text }]))],
  [[200], (text) => success(JSON.stringify([{ ...wireAudience(), status: { id: text, name: text } }]))],
];

/** Returns field errors of many fields. */
const manyFields = (size: number): string =>
  JSON.stringify(Object.fromEntries(Array.from({ length: size / 20 }, (_, at) => [`x${at}`, ['taken']])));

/** Functions that return a hostile response of about `size` characters. */
export const HOSTILE_RESPONSES: readonly [(size: number) => HostileResponse, ...((size: number) => HostileResponse)[]] =
  [
    (size) => ({ status: 422, body: refusal(`{"a":[${nested(Math.min(size, 5_000))}]}`) }),
    (size) => ({ status: 422, body: refusal(manyFields(size)) }),
    (size) => ({ status: 200, body: success(nested(size / 2)) }),
    ...BODIES_WITH_TEXT.flatMap(([statuses, body]) =>
      TEXTS.flatMap((text) => statuses.map((status) => (size: number) => ({ status, body: body(text(size)) }))),
    ),
  ];

/** Returns a gzip body that decompresses to `bytes` spaces. */
export const bomb = (bytes: number): Buffer => gzipSync(Buffer.alloc(bytes, ' '));
