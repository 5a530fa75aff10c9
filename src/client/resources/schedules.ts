import type { Transport } from '../http/index.ts';
import {
  type Schedule,
  type ScheduleCreate,
  scheduleCreateSchema,
  scheduleResource,
} from '../schemas/open-resources.ts';
import { ListedNamespace } from './resource.ts';

/** Schedules, which replay work; their replays cost no build budget. */
export class Schedules extends ListedNamespace<Schedule, ScheduleCreate, 'schedules'> {
  /** @internal */
  constructor(transport: Transport) {
    super(transport, { name: 'schedules', schema: scheduleResource, body: scheduleCreateSchema });
  }
}
