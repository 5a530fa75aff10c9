import type { Creator, Identifier, JsonObject, LifecycleStatusId, NamedId, Optional, Status } from './wire-values.ts';

/** One stream that an activation is delivered through. */
export interface Datastream {
  /** Name of the datastream; its result file is named after it when it is downloaded. */
  readonly name: string;
  /** Allowed values are not specified. */
  readonly status: string;
  /** The file at `uri` can be read once the activation is at 104. */
  readonly results: {
    /** Link to the result file. It may contain a signature, so treat it as a secret. */
    readonly uri: string;
  };
}

/** The delivery of an audience to a partner (specification, "Activation object"). Timestamps are `Y-m-d H:i:s`. */
export interface Activation {
  /** Id by which the activation is read. */
  readonly id: number;
  /** Text that describes the activation, which has no name. */
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
  /** The streams that the audience is delivered through, with their results. */
  readonly datastreams: readonly Datastream[];
  /** Limits on how often a device must have been seen to be delivered. */
  readonly filters: {
    /** `true` if a limit on the frequency applies. */
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

/** Limits on how often a device must have been seen to be delivered. */
export interface FrequencyFilters extends Optional<Activation['filters']> {}

/**
 * The definition of an activation. The specification shows no body: the package assumes these fields, and requires
 * `audience_id`. If your service does not require it, extend `OptionalFields`. `partner_id`, `partner_name` and
 * `pricing_model` must not be set: the service refuses them with 422.
 */
export interface ActivationCreate {
  /** Audience to deliver: of at least 500 unique devices, or a lookalike of at least 1,000. */
  readonly audience_id: number;
  /** Text that describes the activation, which has no name. */
  readonly description?: string | undefined;
  /** Kind of identifier to deliver. @default the service's */
  readonly identifier?: Identifier | undefined;
  /** Project to create the activation in, if any. */
  readonly project_id?: number | null | undefined;
  /** Delivery credentials. If none are stored on the connection either, the service refuses with 422. */
  readonly credentials?: unknown;
  /** Limits on how often a device must have been seen to be delivered. */
  readonly filters?: FrequencyFilters | undefined;
  /** @deprecated Must not be set: the service refuses it with 422. */
  readonly partner_id?: undefined;
  /** @deprecated Must not be set: the service refuses it with 422. */
  readonly partner_name?: undefined;
  /** @deprecated Must not be set: the service refuses it with 422. */
  readonly pricing_model?: undefined;
}
