/**
 * Reports calls, waits and webhook deliveries to OpenTelemetry.
 *
 * @module audience-activation/otel
 */

export { type OpenTelemetryOptions, openTelemetry, type Telemetry } from './open-telemetry.ts';
