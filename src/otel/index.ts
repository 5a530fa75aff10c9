/** @module audience-activation/otel */

export { type OpenTelemetryOptions, openTelemetry, type Telemetry } from './open-telemetry.ts';
