/** A path of the operation table in the router's spelling: `{id}` becomes `:id`. */
export function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}
