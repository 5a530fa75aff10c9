import type { Transport } from '../http/index.ts';
import { type Project, type ProjectCreate, projectCreateSchema, projectResource } from '../schemas/open-resources.ts';
import { ListedNamespace } from './resource.ts';

/** Projects, which organize work. */
export class Projects extends ListedNamespace<Project, ProjectCreate, 'projects'> {
  /** @internal */
  constructor(transport: Transport) {
    super(transport, { name: 'projects', schema: projectResource, body: projectCreateSchema });
  }
}
