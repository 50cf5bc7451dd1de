import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CommaSeparated, Text } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import {
  Analysis,
  MediaAsset,
  MediaAssetStatus,
  MediaKindSchema,
  MediaUpload,
  NewMediaAsset,
  Sha256,
} from './media.resources.ts';

const service = 'campaign';
const access = { credential: 'any' } as const;
const params = z.object({ id: id('media_asset') });

export const listMediaAssets = endpoint({
  operation: 'list_media_assets',
  method: 'GET',
  path: '/v2/media-assets',
  service,
  summary: 'Media assets',
  access,
  query: z.object({
    ...pageQuery,
    media_library_ids: CommaSeparated(id('media_library'))
      .optional()
      .meta({ description: 'Comma-joined ids: in these libraries' }),
    status: CommaSeparated(MediaAssetStatus)
      .optional()
      .meta({ description: `Comma-joined: ${MediaAssetStatus.options.join(', ')}` }),
    kind: CommaSeparated(MediaKindSchema).optional().meta({ description: 'Comma-joined: image, video' }),
    sha256: Sha256.optional(),
    query: Text(255).min(1).optional().meta({ description: 'Part of the filename, in any letter case' }),
  }),
  success: { status: 200, description: 'A page of assets, newest first', body: Page(MediaAsset) },
});

export const createMediaAsset = endpoint({
  operation: 'create_media_asset',
  method: 'POST',
  path: '/v2/media-assets',
  service,
  summary: 'Promise a file',
  description:
    'The answer says where to send its bytes, by PUT and without a token: all at once to upload_url, or, if the file has more than 16 MiB, in upload_parts. Then complete it. An asset that waits for its bytes for more than a day is deleted.',
  access,
  body: NewMediaAsset,
  idempotent: true,
  success: {
    status: 201,
    description: 'The asset, and where its bytes go',
    body: MediaAsset.extend(MediaUpload.shape),
  },
  problems: ['unprocessable'],
});

export const getMediaAsset = endpoint({
  operation: 'get_media_asset',
  method: 'GET',
  path: '/v2/media-assets/{id}',
  service,
  summary: 'A media asset',
  access,
  params,
  success: { status: 200, description: 'The asset', body: MediaAsset },
});

export const deleteMediaAsset = endpoint({
  operation: 'delete_media_asset',
  method: 'DELETE',
  path: '/v2/media-assets/{id}',
  service,
  summary: 'Delete a media asset',
  access,
  params,
  success: { status: 204, description: 'Deleted; 409 while an ad, a cover or a live version uses it' },
  problems: ['conflict'],
});

export const renewMediaUpload = endpoint({
  operation: 'renew_media_upload',
  method: 'POST',
  path: '/v2/media-assets/{id}/upload',
  service,
  summary: 'Go on with an upload',
  changes_nothing: true,
  description: 'Fresh URLs, and which parts have been received. 409 unless the asset awaits its upload.',
  access,
  params,
  success: { status: 200, description: 'Where the bytes go', body: MediaUpload },
  problems: ['conflict'],
});

export const completeMediaAsset = endpoint({
  operation: 'complete_media_asset',
  method: 'POST',
  path: '/v2/media-assets/{id}/complete',
  service,
  summary: 'Say that all bytes are there',
  description: 'A job checks and analyses them. 409 unless the asset awaits its upload, and while bytes are missing.',
  access,
  params,
  body: z
    .object({ sha256: Sha256.nullable().optional().meta({ description: 'If it was not known before' }) })
    .meta({ id: 'MediaCompletion', example: {} }),
  idempotent: true,
  success: { status: 202, description: 'The job', body: z.object({ job_id: id('job') }).meta({ id: 'JobStarted' }) },
  problems: ['conflict'],
});

export const getMediaAnalysis = endpoint({
  operation: 'get_media_analysis',
  method: 'GET',
  path: '/v2/media-assets/{id}/analysis',
  service,
  summary: 'How an asset looks',
  access,
  params,
  success: { status: 200, description: 'The analysis; 404 while there is none', body: Analysis },
});

const ticket = z.object({ ticket: z.string().max(2048).meta({ description: 'What the URL allows, signed' }) });

export const receiveMediaUpload = endpoint({
  operation: 'receive_media_upload',
  method: 'PUT',
  path: '/v2/media-uploads',
  service,
  summary: 'Send the bytes of an asset',
  access: { credential: 'none' },
  query: ticket,
  stream: 'received',
  success: { status: 204, description: 'Taken' },
  problems: ['forbidden', 'conflict'],
});

export const sendMediaFile = endpoint({
  operation: 'send_media_file',
  method: 'GET',
  path: '/v2/media-files',
  service,
  summary: 'The bytes of a file',
  access: { credential: 'none' },
  query: ticket,
  stream: 'sent',
  success: { status: 200, description: 'The file, or (206) the range that was asked for; 416 if it has none of it' },
  problems: ['forbidden', 'not-found'],
});
