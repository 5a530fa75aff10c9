/** What moves files, as a part of its own: see {@link files}. */
export { downloadsOf, resultsOf } from './activation-results.ts';
export { reserveAndSend, sendFile } from './sending.ts';
