import type { Transport } from '../http/index.ts';
import { type OpenCreate, openCreateSchema, type Project, projectResource } from '../schemas/open-resources.ts';
import { ListedResource } from './resource.ts';

/** Projects, which organize work. */
export class Projects extends ListedResource<Project, OpenCreate, 'projects'> {
  /** @internal */
  constructor(transport: Transport) {
    super(transport, { name: 'projects', schema: projectResource, body: openCreateSchema });
  }
}
