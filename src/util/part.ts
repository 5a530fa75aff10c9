import { ConnectionError } from '../errors/call-errors.ts';

/** A part of the package that is loaded when it is first needed: pages start with less, and so do processes. */
export interface Part<M> {
  /** The part itself once it is there. */
  readonly loaded: M | undefined;
  /**
   * The part, or a promise of it.
   *
   * @throws {ConnectionError} when it cannot be had; nothing has been sent then.
   */
  load(): M | Promise<M>;
}

/** Describes a part by its name, for errors, and by what imports it. */
export function part<M>(name: string, load: () => Promise<M>): Part<M> {
  let loaded: M | undefined;
  let loading: Promise<M> | undefined;
  const start = async (): Promise<M> => {
    try {
      loaded = await load();
      return loaded;
    } catch (cause) {
      // The next call tries anew.
      loading = undefined;
      const message = `The part "${name}" of audience-activation could not be loaded, so nothing was sent. On a page, a reload helps when a new version has been deployed meanwhile; service workers need the client in one file.`;
      throw new ConnectionError(message, { operation: `load ${name}`, attempts: 0, cause });
    }
  };
  return {
    get loaded() {
      return loaded;
    },
    load() {
      if (loaded) return loaded;
      loading ??= start();
      return loading;
    },
  };
}
