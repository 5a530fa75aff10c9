import { expect } from 'vitest';
import { openApiDocument } from '../../../src/index.ts';
import { isObject } from '../../../src/util/json.ts';

/** Expected value at a place: text or JSON that matches, an equal value, an object with these properties, or a check. */
export type Expectation =
  | RegExp
  | string
  | number
  | readonly unknown[]
  | { readonly [key: string]: unknown }
  | ((value: unknown) => void);

/** A rule of the specification, and where the document says it. */
export interface Rule {
  readonly rule: string;
  /** JSON pointer into the document; it may go through references. */
  readonly at: string;
  readonly says: Expectation;
}

/** Rules by the heading of the specification under which they are. */
export type Rules = Readonly<Record<string, readonly Rule[]>>;

export const rule = (text: string, at: string, says: Expectation): Rule => ({ rule: text, at, says });

/** Returns the rules that the document says at one place. */
export const says = (at: string, expectations: Readonly<Record<string, Expectation>>): readonly Rule[] =>
  Object.entries(expectations).map(([text, expected]) => rule(text, at, expected));

const document = openApiDocument();

/** Returns a value with what it refers to; fields beside the reference take precedence. */
function resolved(value: unknown): unknown {
  if (!isObject(value) || typeof value.$ref !== 'string') return value;
  const { $ref, ...rest } = value;
  return { ...Object(valueAt($ref.slice(1))), ...rest };
}

/** Returns the value at a JSON pointer of the document, with what it refers to. */
export function valueAt(pointer: string): unknown {
  const keys = pointer.split('/').slice(1);
  const step = (value: unknown, key: string): unknown =>
    resolved(Object(value)[key.replaceAll('~1', '/').replaceAll('~0', '~')]);
  return keys.reduce(step, document);
}

const escaped = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns the pointer to the operation of a method and path. */
export const operation = (request: string): string => {
  const [method = '', path = ''] = request.split(' ');
  return `/paths/${escaped(path)}/${method.toLowerCase()}`;
};

/** Returns the pointer to `data` in the success of an operation. */
export const data = (request: string): string =>
  `${operation(request)}/responses/200/content/application~1json/schema/properties/data`;

/** Returns the pointer to the schema of the body of an operation. */
export const body = (request: string): string => `${operation(request)}/requestBody/content/application~1json/schema`;

/** Returns the pointer to a field of a schema; `name[]` is an element of an array. */
export const field = (name: string, path = ''): string => {
  const steps = path === '' ? [] : path.split('.');
  const pointers = steps.map((step) => `/properties/${step.replace('[]', '/items')}`);
  return `/components/schemas/${name}${pointers.join('')}`;
};

/** Returns the pointer to the body of the delivery of an event. */
export const delivery = (type: string): string => `/webhooks/${type}/post/requestBody/content/application~1json/schema`;

/** Returns the name of the type of a schema, such as `array of string` or `string or null`. */
function typeOf(schema: unknown): string {
  const { type, anyOf, items } = Object(resolved(schema));
  if (Array.isArray(anyOf)) return [...new Set(anyOf.map(typeOf))].sort().join(' or ');
  const types = [type].flat().map((name) => (name === 'array' ? `array of ${typeOf(items)}` : String(name)));
  return types.sort((a, b) => Number(a === 'null') - Number(b === 'null')).join(' or ');
}

/** Checks the type of a schema. */
export const isOfType =
  (type: string): Expectation =>
  (value) => {
    expect(typeOf(value)).toBe(type);
  };

/** Checks that an array contains a value, or an object a key. */
export const contains =
  (item: string): Expectation =>
  (value) => {
    expect(Array.isArray(value) ? value : Object.keys(Object(value))).toContain(item);
  };

/** Checks that the JSON of a value does not contain a string. */
export const lacks =
  (text: string): Expectation =>
  (value) => {
    expect(value).toBeTypeOf('object');
    expect(JSON.stringify(value)).not.toContain(text);
  };

/** Checks that a schema has the properties of a component. */
export const isLike =
  (name: string): Expectation =>
  (value) => {
    expect(Object(value).properties).toEqual(Object(valueAt(field(name))).properties);
  };

/** Returns the pointer to the description of a group of operations. */
export const tag = (name: string): string => {
  const index = Array.isArray(document.tags) ? document.tags.findIndex((entry) => Object(entry).name === name) : -1;
  return `/tags/${index}/description`;
};

/** Checks what the document says. */
export function expectSays(value: unknown, says: Expectation): void {
  if (typeof says === 'function') says(value);
  else if (says instanceof RegExp)
    expect(typeof value === 'string' ? value : JSON.stringify(value ?? null)).toMatch(says);
  else if (typeof says === 'object' && !Array.isArray(says)) expect(value).toMatchObject(says);
  else expect(value).toEqual(says);
}

/** Returns the rules that a schema has these fields, all of them required, with the types that the table of fields shows. */
export const fields = (name: string, types: Readonly<Record<string, string>>): readonly Rule[] =>
  Object.entries(types).flatMap(([path, type]) => {
    const parent = path.includes('.') ? path.slice(0, path.lastIndexOf('.')) : '';
    return [
      { rule: `${path}: ${type}`, at: field(name, path), says: isOfType(type) },
      {
        rule: `${path} is always there`,
        at: `${field(name, parent)}/required`,
        says: contains(path.slice(path.lastIndexOf('.') + 1)),
      },
    ];
  });
