/** Binds the methods of an object to the object, so that `const { get } = client.audiences` works. */
export function bindMethods(target: object): void {
  let prototype = Object.getPrototypeOf(target);
  while (prototype !== null && prototype !== Object.prototype) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (typeof value !== 'function' || name === 'constructor' || Object.hasOwn(target, name)) continue;
      // Define them as not enumerable, like methods of a class, so that inspection does not show them.
      Object.defineProperty(target, name, { value: value.bind(target), configurable: true, writable: true });
    }
    prototype = Object.getPrototypeOf(prototype);
  }
}
