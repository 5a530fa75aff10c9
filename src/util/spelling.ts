declare const misspelt: unique symbol;

/** Type of a misspelt field: no value has it, so that the compiler reports the field and names the right one. */
export interface DidYouMean<Field extends string> {
  /** Exists in types only, and contains the right name. */
  readonly [misspelt]: Field;
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The names of fields in camel case, which a type must not have: the service spells them with underscores. */
export type NoCamelCase<Field extends string> = {
  readonly [Name in Field as CamelCase<Name>]?: DidYouMean<Name> | undefined;
};

/**
 * Refuses the misspelt fields of a body or a query, at any depth: a field that has the name of a documented one except
 * for case, underscores, hyphens, or one letter. Other fields that are not documented pass.
 */
export type Spelled<Value, Documented> = {
  readonly [Name in keyof Value]: string extends Name
    ? unknown
    : Name extends keyof Documented
      ? SpelledValue<Value[Name], NonNullable<Documented[Name]>>
      : NotSimilar<Name, keyof Documented, Value[Name]>;
};

type SpelledValue<Value, Documented> = [Documented] extends [DidYouMean<string>]
  ? NotAny<Value>
  : Value extends readonly (infer Item)[]
    ? Documented extends readonly (infer DocumentedItem)[]
      ? readonly SpelledValue<Item, DocumentedItem>[]
      : unknown
    : Value extends object
      ? Spelled<Value, Documented>
      : unknown;

/** Accepts every value, unless the name is similar to one of the fields. */
type NotSimilar<Name, Field, Value> = [SimilarTo<Name, Field>] extends [never]
  ? unknown
  : NotAny<Value> & DidYouMean<SimilarTo<Name, Field>>;

/** Refuses `any`, which can be assigned to every other type. */
type NotAny<Value> = 0 extends Value & 1 ? never : unknown;

type SimilarTo<Name, Field> = Name extends string
  ? Field extends Lowercase<string & Field>
    ? IsSimilar<Letters<Name>, Letters<Field>> extends true
      ? Field
      : never
    : never
  : never;

/** The lower-case letters of a name. */
type Letters<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? Letters<`${Head}${Tail}`>
  : Name extends `${infer Head}-${infer Tail}`
    ? Letters<`${Head}${Tail}`>
    : Lowercase<Name>;

/** `true` if two names are equal, or differ by one letter: an additional, missing or different one, or two swapped. */
type IsSimilar<A extends string, B extends string> = A extends `${infer X}${infer RestOfA}`
  ? B extends `${infer Y}${infer RestOfB}`
    ? X extends Y
      ? IsSimilar<RestOfA, RestOfB>
      : RestOfA extends B | RestOfB
        ? true
        : A extends RestOfB
          ? true
          : A extends `${X}${Y}${infer Rest}`
            ? B extends `${Y}${X}${Rest}`
              ? true
              : false
            : false
    : RestOfA extends ''
      ? true
      : false
  : B extends `${infer _}${infer RestOfB}`
    ? RestOfB extends ''
      ? true
      : false
    : true;

const lettersOf = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();

/** Returns the documented field that a name is a misspelling of, by the rule of {@link Spelled}. */
export function similarField(name: string, documented: readonly string[]): string | undefined {
  return documented.find((field) => isSimilar(lettersOf(name), lettersOf(field)));
}

function isSimilar(a: string, b: string): boolean {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  const [restOfA, restOfB] = [a.slice(at + 1), b.slice(at + 1)];
  return (
    restOfA === restOfB ||
    restOfA === b.slice(at) ||
    restOfB === a.slice(at) ||
    (a[at] === b[at + 1] && a[at + 1] === b[at] && a.slice(at + 2) === b.slice(at + 2))
  );
}
