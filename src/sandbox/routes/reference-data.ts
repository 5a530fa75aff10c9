/** One row of a look-up table; its fields are not specified. */
export interface ReferenceRow {
  readonly id: number;
  readonly name: string;
}

const rows = (count: number, name: (at: number) => string): readonly ReferenceRow[] =>
  Array.from({ length: count }, (_, at) => ({ id: at + 1, name: name(at + 1) }));

/** Look-up tables by dataset and name, a few hundred rows each; made up, as none is specified. */
export const REFERENCE: Readonly<Record<string, Readonly<Record<string, readonly ReferenceRow[]>>>> = {
  common: { countries: rows(240, (at) => `Country ${at}`), states: rows(50, (at) => `State ${at}`) },
  web: { domains: rows(620, (at) => `site-${at}.example`) },
  ctv: { genres: rows(300, (at) => `Genre ${at}`) },
  apps: { apps: rows(700, (at) => `App ${at}`) },
};

/** The table of a name, in whatever dataset. */
export function findTable(name: string): readonly ReferenceRow[] | undefined {
  return Object.values(REFERENCE).find((tables) => Object.hasOwn(tables, name))?.[name];
}
