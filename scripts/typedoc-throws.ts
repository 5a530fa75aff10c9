import { type Application, Converter } from 'typedoc';

/** Keeps the classes in `@throws {ConfigurationError} …`, which typedoc-plugin-markdown leaves out. */
export function load({ converter }: Application): void {
  converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const { comment } of Object.values(project.reflections)) {
      for (const { content, typeAnnotation } of comment?.getTags('@throws') ?? []) {
        if (typeAnnotation) content.unshift({ kind: 'text', text: `\`${typeAnnotation.slice(1, -1)}\` ` });
      }
    }
  });
}
