import { exerciseTelemetry } from './exercise-telemetry.ts';

/** Program for every runtime and bundler: uses the entry `otel`. */
await exerciseTelemetry();
console.log('done');
