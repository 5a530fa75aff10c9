/** One row of a reference table; its fields are not specified. */
export interface ReferenceRow {
  readonly id: number;
  readonly name: string;
}

const rows = (count: number, nameOf: (id: number) => string): readonly ReferenceRow[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1, name: nameOf(index + 1) }));

/** The datastreams that an activation can deliver to; the first one is the default. */
export const DATASTREAMS: readonly string[] = ['devices', 'households', 'locations'];

/** Reference tables by dataset and name. Their content is invented, because none is specified. */
export const REFERENCE: Readonly<Record<string, Readonly<Record<string, readonly ReferenceRow[]>>>> = {
  common: {
    datastreams: DATASTREAMS.map((name, index) => ({ id: index + 1, name })),
    countries: rows(240, (id) => `Country ${id}`),
    states: rows(50, (id) => `State ${id}`),
  },
  web: { domains: rows(620, (id) => `site-${id}.example`) },
  ctv: { genres: rows(300, (id) => `Genre ${id}`) },
  apps: { apps: rows(700, (id) => `App ${id}`) },
};

/** Returns the table with a name, of any dataset. */
export function findTable(name: string): readonly ReferenceRow[] | undefined {
  return Object.values(REFERENCE).find((tables) => Object.hasOwn(tables, name))?.[name];
}
