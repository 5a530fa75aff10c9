import type { Creator, Identifier, JsonObject, LifecycleStatusId, NamedId, Optional, Status } from './wire-values.ts';

/** A datastream through which the service delivers an activation. */
export interface Datastream {
  /** Name of the datastream. */
  readonly name: string;
  /** Status of the datastream. Its values are not specified. */
  readonly status: string;
  /** Result file of the datastream, readable once the activation reaches 104 Completed. */
  readonly results: {
    /** Link to the result file. It may contain a signature, so treat it as a secret. */
    readonly uri: string;
  };
}

/** The delivery of an audience to a partner (specification, "Activation object"). Timestamps are `Y-m-d H:i:s`. */
export interface Activation {
  /** Id of the activation. */
  readonly id: number;
  /** Description. An activation has no name. */
  readonly description: string;
  /** Lifecycle status: 105 DataStreaming, then 104 Completed; or 107 Additional Info or a 4xx error status. */
  readonly status: Status<LifecycleStatusId>;
  /** The audience that is delivered. */
  readonly audience: NamedId;
  /** User who created the activation. */
  readonly created_by: Creator;
  /** Project of the activation, or `null`. Its fields are not specified. */
  readonly project: JsonObject | null;
  /** Delivery partner that receives the audience. */
  readonly partner: {
    /** Name of the delivery partner. */
    readonly name: string;
    /** Description of the delivery partner. */
    readonly description: string;
  };
  /** Pricing model, such as one for MAID or IP. Its fields are not specified. */
  readonly pricing_model: JsonObject;
  /** Datastreams through which the service delivers the audience, with their results. */
  readonly datastreams: readonly Datastream[];
  /** Frequency filters. The specification shows only their field names. */
  readonly filters: {
    /** `true` if the frequency limits apply. */
    readonly freq_limit: boolean;
    /** Minimum frequency, or `null`. Its unit is not specified. */
    readonly freq_min: number | null;
    /** Maximum frequency, or `null`. Its unit is not specified. */
    readonly freq_max: number | null;
  };
  /** Hash of the filters, or `null`. The specification does not describe its use. */
  readonly filter_hash: string | null;
  /** Time of creation, `Y-m-d H:i:s`. */
  readonly created_at: string;
  /** Time of the last change, `Y-m-d H:i:s`. */
  readonly updated_at: string;
}

/** Frequency filters. The specification shows only their field names. */
export interface FrequencyFilters extends Optional<Activation['filters']> {}

/**
 * Fields of a new activation. The specification does not list them: the package assumes them, and its types require
 * `audience_id`. If your service does not require `audience_id`, extend `OptionalFields`.
 */
export interface ActivationCreate {
  /**
   * Id of the audience to deliver. The audience needs at least 500 unique devices; a lookalike, at least 1,000 devices.
   */
  readonly audience_id: number;
  /** Description. An activation has no name. */
  readonly description?: string | undefined;
  /** Kind of identifier to deliver. @default the default of the service */
  readonly identifier?: Identifier | undefined;
  /** Id of the project to create the activation in, if any. */
  readonly project_id?: number | null | undefined;
  /** Delivery credentials. Without them, the service returns 422, unless the connection has stored credentials. */
  readonly credentials?: unknown;
  /** Frequency filters. The specification shows only their field names. */
  readonly filters?: FrequencyFilters | undefined;
  /** @deprecated Must not be set: the service refuses it with 422. */
  readonly partner_id?: undefined;
  /** @deprecated Must not be set: the service refuses it with 422. */
  readonly partner_name?: undefined;
  /** @deprecated Must not be set: the service refuses it with 422. */
  readonly pricing_model?: undefined;
}
