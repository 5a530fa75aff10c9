/** A row of a reference table. Its fields are not specified. */
export interface ReferenceRow {
  readonly id: number;
  readonly name: string;
}

const rows = (count: number, nameOf: (id: number) => string): readonly ReferenceRow[] =>
  Array.from({ length: count }, (_, index) => ({ id: index + 1, name: nameOf(index + 1) }));

/** The datastreams of activations. The first datastream is the default. */
export const DATASTREAMS: readonly string[] = ['devices', 'households', 'locations'];

/** Reference tables by dataset and name. Their content is invented, because it is not specified. */
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

/** Returns the table with this name in any dataset. */
export function findTable(name: string): readonly ReferenceRow[] | undefined {
  return Object.values(REFERENCE).find((tables) => Object.hasOwn(tables, name))?.[name];
}
