/** Returns whether a promise settles without waiting for anything: before a timer of 0 ms fires, however busy the machine. */
export const settlesNow = (promise: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    new Promise<false>((resolve) => setTimeout(resolve, 0, false)),
  ]);
