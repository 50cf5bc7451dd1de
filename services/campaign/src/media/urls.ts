import { receiveMediaUpload, sendMediaFile } from '@attribution/contracts';
import type { FileTicket, Signer, UploadTicket } from './tickets.ts';

/** How long an upload URL is good for, and a file's at least. */
export const uploadUrlMs = 60 * 60_000;
const fileUrlMs = 12 * 60 * 60_000;

/** Makes the URLs under which clients send and get bytes. */
export interface MediaUrls {
  upload(ticket: UploadTicket, expiresAt: Date): string;
  file(ticket: FileTicket, expiresAt: Date): string;
  /** When the URL of a file that is asked for now expires. */
  fileExpiry(now: Date): Date;
}

export function createMediaUrls(signer: Signer, publicUrl: string): MediaUrls {
  const base = publicUrl.replace(/\/+$/, '');
  return {
    upload: (ticket, at) => `${base}${receiveMediaUpload.path}?ticket=${signer.sign('upload', ticket, at)}`,
    file: (ticket, at) => `${base}${sendMediaFile.path}?ticket=${signer.sign('file', ticket, at)}`,
    fileExpiry: (now) => new Date(now.getTime() + fileUrlMs),
  };
}
