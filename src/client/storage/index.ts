export { openDownload } from './download.ts';
export { checkTransferOptions, type TransferMethod, type TransferOptions } from './transfer.ts';
export { type UploadOptions, type UploadProgress, uploadFile } from './upload.ts';
export { type ByteReader, type ByteStream, isStream, type UploadData, UploadSource } from './upload-source.ts';
