import { type Activation, type ActivationCreate, activationSchema } from '../schemas/activation.ts';
import type { Transport } from '../transport/transport.ts';
import type { WaitContext } from '../waiting/wait.ts';
import { activationErrors } from './checks.ts';
import { ListedJobResource } from './resource.ts';

/** Activations: audiences delivered to a partner, through 105 DataStreaming to 104, 107 or a 4xx status. */
export class Activations extends ListedJobResource<Activation, ActivationCreate, 'activations'> {
  constructor(transport: Transport, waits: WaitContext) {
    const plan = {
      name: 'activations',
      kind: 'activation',
      shape: { schema: activationSchema },
      check: activationErrors,
    } as const;
    super(transport, plan, waits);
  }
}
