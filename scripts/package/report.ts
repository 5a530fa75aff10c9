/** One thing that is tried. */
export interface Step {
  readonly name: string;
  readonly work: () => unknown;
}

/** How the steps went. */
export interface Result {
  readonly passed: number;
  readonly failed: number;
}

/** Steps stand for themselves, and most of them wait for one process. */
const AT_ONCE = 2;

/** Runs the steps in order, two at a time, and prints a line for each once it is done. */
export async function runSteps(steps: readonly Step[], print: (line: string) => void): Promise<Result> {
  const waiting = steps.values();
  let passed = 0;
  const work = async (): Promise<void> => {
    for (const step of waiting) {
      const failure = await failureOf(step);
      if (failure === undefined) passed += 1;
      print(failure === undefined ? `✓ ${step.name}` : `✗ ${step.name}\n${failure.replaceAll(/^/gm, '    ')}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
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
