import { exerciseTelemetry } from './exercise-telemetry.ts';

/** A worker for an edge runtime that uses the entry `otel`. */
const worker = {
  async fetch(): Promise<Response> {
    try {
      await exerciseTelemetry();
      return new Response('done');
    } catch (error) {
      return new Response(String(error instanceof Error ? error.stack : error), { status: 500 });
    }
  },
};

export { worker as default };
