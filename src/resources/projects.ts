import type { Transport } from '../http/index.ts';
import { type OpenCreate, openCreateSchema, type Project, projectResource } from '../schemas/open-resources.ts';
import { ListedNamespace } from './resource.ts';

/** Projects, which organize work. */
export class Projects extends ListedNamespace<Project, OpenCreate, 'projects'> {
  /** @internal */
  constructor(transport: Transport) {
    super(transport, { name: 'projects', schema: projectResource, body: openCreateSchema });
  }
}
