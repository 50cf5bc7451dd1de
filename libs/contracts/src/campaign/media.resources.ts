import { z } from 'zod';
import { Count, Name, Text, Timestamp } from '../wire/formats.ts';
import { type IdKind, id } from '../wire/ids.ts';
import { mediaKinds, mediaTypeNames, mediaTypeOf, mediaTypes } from './media-types.ts';

const libraryFields = {
  group_id: id('group').nullable().meta({ description: 'For access; null: account-wide callers and the author alone' }),
  name: Name().meta({ example: 'Spring' }),
  description: Text(2000).nullable().meta({ example: 'Pictures of the spring sale' }),
};
const library = <const C extends string>(kind: IdKind, count: C, description: string) =>
  z
    .object({
      id: id(kind),
      account_id: id('account'),
      ...libraryFields,
      ...({ [count]: Count } as Record<C, typeof Count>),
      created_by: z.string().meta({ example: 'usr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' }),
      created_at: Timestamp,
      updated_at: Timestamp,
    })
    .meta({ description });

export const MediaLibrary = library('media_library', 'asset_count', 'Holds media assets').meta({ id: 'MediaLibrary' });
export const AdLibrary = library('ad_library', 'ad_count', 'Holds ads').meta({ id: 'AdLibrary' });

export const NewLibrary = z
  .object({
    name: libraryFields.name,
    description: libraryFields.description.default(null),
    group_id: libraryFields.group_id
      .optional()
      .meta({ description: "Default: the caller's only group, if it has just one, else null" }),
  })
  .meta({ id: 'NewLibrary', example: { name: 'Spring', description: 'Pictures of the spring sale' } });

export const LibraryChange = z.object(libraryFields).partial();

export const mediaAssetStatuses = ['awaiting_upload', 'uploaded', 'processing', 'ready', 'failed'] as const;
export const MediaAssetStatus = z.enum(mediaAssetStatuses);
export const MediaKindSchema = z.enum(mediaKinds);
export const MediaTypeSchema = z.enum(mediaTypeNames);

export const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in lower-case hex, 64 characters')
  .meta({ example: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' });

/** What is known of the file without looking at its pixels. The fields of time are left out for a still image. */
export const Probe = z
  .object({
    mime: MediaTypeSchema,
    width: z.int().min(1).meta({ description: 'Pixels, as it is shown', example: 1920 }),
    height: z.int().min(1).meta({ description: 'Pixels, as it is shown', example: 1080 }),
    rotation: z.union([z.literal(0), z.literal(90), z.literal(180), z.literal(270)]).meta({
      description: 'Degrees clockwise that a player has to turn it; width and height are those after it',
    }),
    codec: z.string().meta({ description: 'png, jpeg, webp, gif, h264, hevc, av1, vp8, vp9, …', example: 'h264' }),
    codec_string: z.string().optional().meta({ description: 'RFC 6381; of a video', example: 'avc1.64001f' }),
    duration_ms: z.int().min(0).optional().meta({ description: 'Left out for a still image', example: 10_000 }),
    fps: z.number().min(0).optional().meta({ description: 'On average', example: 25 }),
    frames: Count.optional(),
    variable_frame_rate: z
      .boolean()
      .optional()
      .meta({ description: 'Whether some frame lasts more than 1.5 times as long as another' }),
    audio: z.boolean(),
    audio_codec: z.string().optional().meta({ example: 'aac' }),
    bit_depth: z.int().min(1).nullable().meta({ description: 'null: unknown', example: 8 }),
    chroma: z.string().nullable().meta({ description: 'null: unknown', example: '4:2:0' }),
    colour: z
      .enum(['srgb', 'display-p3', 'cmyk', 'bt601', 'bt709', 'bt2020', 'other'])
      .nullable()
      .meta({ description: 'null: unknown' }),
    hdr: z.boolean(),
    fast_start: z.boolean().optional().meta({ description: 'Of an MP4: its index comes before its data' }),
  })
  .meta({ id: 'MediaProbe' });

const failureCodes = [
  'checksum_mismatch',
  'size_mismatch',
  'type_mismatch',
  'unsupported_type',
  'unreadable',
  'truncated',
  'too_many_pixels',
  'too_long',
  'too_many_frames',
  'took_too_long',
  'not_processed',
] as const;
export type MediaFailureCode = (typeof failureCodes)[number];

const SignedUrl = z
  .string()
  .nullable()
  .meta({ description: 'Signed; until urls_expire_at', example: 'https://api.example.com/v2/media-files/…' });

export const MediaAsset = z
  .object({
    id: id('media_asset'),
    account_id: id('account'),
    media_library_id: id('media_library'),
    filename: z.string().meta({ example: 'spring.png' }),
    kind: MediaKindSchema,
    status: MediaAssetStatus,
    size_bytes: z.int().min(0).meta({ description: 'As promised, then as found', example: 48_213 }),
    mime_type: z.string().meta({ description: 'As promised, then as found', example: 'image/png' }),
    sha256: Sha256.nullable().meta({ description: 'As promised, then as found' }),
    probe: Probe.nullable().meta({ description: 'null until it is processed' }),
    analysis_id: id('analysis').nullable(),
    failure: z
      .object({
        code: z.string().meta({ description: `${failureCodes.join(', ')}, …`, example: 'truncated' }),
        detail: z.string().meta({ example: 'The file ends after 812 of 4,096 bytes.' }),
      })
      .nullable()
      .meta({ description: 'Why it failed' }),
    job_id: id('job').nullable().meta({ description: 'Of its processing' }),
    url: SignedUrl,
    poster_url: SignedUrl.meta({ description: 'At most 1,920 pixels on the long side, upright, sRGB' }),
    thumbnail_url: SignedUrl.meta({ description: 'At most 320 pixels on the long side, upright, sRGB' }),
    urls_expire_at: Timestamp.nullable(),
    created_by: z.string().meta({ example: 'usr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'MediaAsset', description: 'A file: what was promised until it is uploaded, then what was found' });

const UploadHeaders = z.record(z.string(), z.string()).meta({ description: 'Send them as they are' });

/** Where the bytes go. Files of more than 16 MiB may be sent in parts as well. */
export const MediaUpload = z
  .object({
    upload_url: z.string().meta({
      description: 'Takes one PUT with all bytes',
      example: 'https://api.example.com/v2/media-uploads/…',
    }),
    upload_headers: UploadHeaders,
    upload_expires_at: Timestamp,
    upload_parts: z
      .object({
        part_size_bytes: z.int().min(1).meta({ description: 'Of all parts but the last', example: 16_777_216 }),
        parts: z.array(
          z.object({
            part_number: z.int().min(1),
            size_bytes: z.int().min(1),
            url: z.string(),
            headers: UploadHeaders,
            received: z.boolean().meta({ description: 'Whether the store has it' }),
          }),
        ),
      })
      .optional()
      .meta({ description: 'For files of more than 16 MiB: in any order, several at once, and again if need be' }),
  })
  .meta({ id: 'MediaUpload', description: 'Use one way or the other, not both' });

const largest = Math.max(...Object.values(mediaTypes).map(({ max_bytes }) => max_bytes));

export const NewMediaAsset = z
  .object({
    media_library_id: id('media_library'),
    filename: Name(255)
      .refine((name) => !/[/\\]/.test(name), 'must have no / or \\')
      .meta({ example: 'spring.png' }),
    size_bytes: z.int().min(1).max(largest).meta({ example: 48_213 }),
    mime_type: MediaTypeSchema.optional().meta({ description: "Default: by the filename's extension" }),
    sha256: Sha256.nullable().default(null).meta({ description: 'null: not known yet' }),
  })
  .transform((asset, context) => {
    const mime_type = asset.mime_type ?? mediaTypeOf(asset.filename);
    if (mime_type === undefined) {
      const message = `must end like a file of ${mediaTypeNames.join(', ')}, unless mime_type is given`;
      context.addIssue({ code: 'custom', path: ['filename'], message, input: asset.filename });
      return z.NEVER;
    }
    const { max_bytes } = mediaTypes[mime_type];
    if (asset.size_bytes > max_bytes) {
      const message = `must be at most ${max_bytes} for ${mime_type}`;
      context.addIssue({ code: 'custom', path: ['size_bytes'], message, input: asset.size_bytes });
      return z.NEVER;
    }
    return { ...asset, mime_type };
  })
  .meta({
    id: 'NewMediaAsset',
    example: {
      media_library_id: 'mlb_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      filename: 'spring.png',
      size_bytes: 48_213,
    },
  });

const Percent = z.number().min(0).max(100);

export const Analysis = z
  .object({
    id: id('analysis'),
    media_asset_id: id('media_asset'),
    analyser: z.string().meta({ example: 'look-1' }),
    heuristic: z.boolean(),
    frame_at_ms: Count.optional().meta({ description: 'Of a video: the frame that was looked at' }),
    technical: z.object({
      bitrate_kbps: z.number().min(0).nullable().meta({ description: 'null for a still image', example: 4_200 }),
      decode: z.enum(['complete', 'sampled', 'none']).meta({
        description: 'complete: every frame was decoded; none: there is no decoder here',
      }),
      decoded_frames: Count,
    }),
    look: z
      .object({
        contrast: Percent,
        sharpness: Percent,
        colour: Percent,
        brightness: Percent,
        text_density: Percent,
        dominant_colours: z
          .array(z.string().regex(/^#[0-9a-f]{6}$/))
          .min(1)
          .max(5)
          .meta({ example: ['#1a6b3c', '#ffffff'] }),
      })
      .nullable()
      .meta({ description: 'Of a frame on black, in sRGB, at most 512 pixels large; null if it could not be decoded' }),
    created_at: Timestamp,
  })
  .meta({ id: 'MediaAnalysis', description: 'How an asset looks, each value from 0 to 100' });
