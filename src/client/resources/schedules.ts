import type { Schedule, ScheduleCreate } from '../../spec/open-resources.ts';
import type { Transport } from '../http/transport.ts';
import { scheduleCreateSchema, scheduleResource } from '../schemas/open-resource-schemas.ts';
import { ListedNamespace } from './resource.ts';

/** Schedules, which replay work. Replays do not count against the build budget. */
export class Schedules extends ListedNamespace<Schedule, ScheduleCreate, 'schedules'> {
  /** @internal */
  constructor(transport: Transport) {
    super(transport, { name: 'schedules', schema: scheduleResource, body: scheduleCreateSchema });
  }
}
