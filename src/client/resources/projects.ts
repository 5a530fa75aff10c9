import type { Project, ProjectCreate } from '../../spec/open-resources.ts';
import type { BodyOf } from '../../spec/wire-values.ts';
import type { Transport } from '../http/transport.ts';
import { projectCreateSchema, projectResource } from '../schemas/open-resource-schemas.ts';
import { ListedNamespace } from './resource.ts';

/** Projects, which organize work. */
export class Projects extends ListedNamespace<Project, BodyOf<'projects.create', ProjectCreate>, 'projects'> {
  /** @internal */
  constructor(transport: Transport) {
    super(transport, { name: 'projects', schema: projectResource, body: projectCreateSchema });
  }
}
