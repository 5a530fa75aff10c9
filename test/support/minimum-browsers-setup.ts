import type { TestProject } from 'vitest/node';
import { MINIMUM_BROWSERS, newerBuiltIns } from '../../scripts/minimum-browsers.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    newerBuiltIns: string[];
  }
}

/** Provides the names of the built-ins that not all supported browsers have. */
export default function setup(project: TestProject): void {
  project.provide('newerBuiltIns', newerBuiltIns(MINIMUM_BROWSERS));
}
