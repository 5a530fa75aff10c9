import { resolve } from 'node:path';
import ts from 'typescript';

/** The language service of TypeScript, as an editor asks it about one program. */
export interface Editor {
  /** Returns the names that are offered at a marker in the text. */
  completionsAt(marker: string): string[];
  /** Returns the declaration that is shown for the last occurrence of a string. */
  hoverOf(text: string): string;
  /** Returns the messages of the errors, each with the text of its line. */
  errors(): { readonly line: string; readonly message: string }[];
  /** Returns the names that are offered at a marker and struck out, because they are deprecated. */
  deprecatedAt(marker: string): string[];
  /** Number of types that the compiler has instantiated for the program. */
  instantiations(): number;
}

/** Opens a program that imports the built package. */
export function openEditor(text: string): Editor {
  const file = resolve('test/types/package/in-memory.ts');
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts', 'lib.dom.d.ts'],
    module: ts.ModuleKind.NodeNext,
    strict: true,
    exactOptionalPropertyTypes: true,
    types: [],
  };
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const content = path === file ? text : ts.sys.readFile(path);
      return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content);
    },
    getCurrentDirectory: () => resolve('.'),
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: (path) => (path === file ? text : ts.sys.readFile(path)),
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
  });
  return {
    completionsAt(marker) {
      const { entries = [] } = service.getCompletionsAtPosition(file, text.indexOf(marker), {}) ?? {};
      return entries.map(({ name }) => name);
    },
    hoverOf(name) {
      const info = service.getQuickInfoAtPosition(file, text.lastIndexOf(name));
      return ts.displayPartsToString(info?.displayParts);
    },
    errors: () =>
      [...service.getSyntacticDiagnostics(file), ...service.getSemanticDiagnostics(file)].map((diagnostic) => ({
        line: text.split('\n')[text.slice(0, diagnostic.start).split('\n').length - 1]?.trim() ?? '',
        message: ts.flattenDiagnosticMessageText(diagnostic.messageText, ' '),
      })),
    deprecatedAt(marker) {
      const { entries = [] } = service.getCompletionsAtPosition(file, text.indexOf(marker), {}) ?? {};
      return entries.filter(({ kindModifiers = '' }) => /\bdeprecated\b/.test(kindModifiers)).map(({ name }) => name);
    },
    instantiations: () => service.getProgram()?.getInstantiationCount() ?? 0,
  };
}
