/**
 * Files, downloads, token files, sign-in and webhook listeners in Node.
 *
 * @module audience-activation/node
 */

export { type DownloadedFile, type DownloadToOptions, downloadTo } from './download-to.ts';
export { toNodeListener } from './node-listener.ts';
export { openFile } from './open-file.ts';
export { type SignInOptions, signInWithBrowser } from './sign-in.ts';
export { fileTokenStore } from './token-file.ts';
