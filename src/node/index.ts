/**
 * Files, downloads, journals, token files, sign-in and webhook listeners in Node.
 *
 * @module audience-activation/node
 */

export type { DownloadedFile } from '../errors/error-details.ts';
export { JournalError } from '../errors/journal-errors.ts';
export { type DownloadToOptions, downloadTo } from './download-to.ts';
export type { Journal, JournalCreateOptions, JournalImportOptions, JournalNamespace } from './journal.ts';
export type { ImportInput } from './journal-import.ts';
export type { ImportedFile, JournalEntry } from './journal-lines.ts';
export { toNodeListener } from './node-listener.ts';
export { openFile } from './open-file.ts';
export { type JournalOptions, openJournal, readJournal } from './open-journal.ts';
export { type SignInOptions, signInWithBrowser } from './sign-in.ts';
export { fileTokenStore } from './token-file.ts';
