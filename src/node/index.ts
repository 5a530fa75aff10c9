export { type DownloadedFile, type DownloadToOptions, downloadTo } from './download-to.ts';
export { openFile } from './open-file.ts';
