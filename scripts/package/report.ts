/** One test of the package. */
export interface Step {
  readonly name: string;
  readonly work: () => unknown;
}

/** Number of steps by result. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
}

/** Maximum number of steps that run at the same time. Most steps wait for one process. */
const CONCURRENCY = 3;

/** Starts the steps in order and prints each result, with its duration, when its step ends. */
export async function runSteps(steps: readonly Step[], print: (line: string) => void): Promise<Result> {
  const waiting = steps.values();
  let passed = 0;
  const work = async (): Promise<void> => {
    for (const step of waiting) {
      const began = performance.now();
      const failure = await failureOf(step);
      if (failure === undefined) passed += 1;
      const name = `${step.name} (${((performance.now() - began) / 1_000).toFixed(1)} s)`;
      print(failure === undefined ? `✓ ${name}` : `✗ ${name}\n${failure.replaceAll(/^/gm, '    ')}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return { passed, failed: steps.length - passed };
}

async function failureOf(step: Step): Promise<string | undefined> {
  try {
    await step.work();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
