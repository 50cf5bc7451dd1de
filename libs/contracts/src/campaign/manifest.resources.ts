import { z } from 'zod';
import { Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

const Sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .meta({ description: 'SHA-256 in lower-case hex' });

const fileFields = { sha256: Sha256, size_bytes: z.int().min(1), mime: z.string() };

const ManifestFile = z
  .object({
    ...fileFields,
    url: z.string().meta({ description: 'Signed; serves GET and HEAD, with ranges' }),
    url_expires_at: Timestamp.meta({ description: 'Not before `covers_to`' }),
  })
  .meta({ id: 'ManifestFile' });

const ManifestItem = z
  .object({
    campaign_ad_id: id('campaign_ad'),
    campaign_id: id('campaign'),
    version: z.int().min(1).meta({ description: 'The live version of the campaign' }),
    ad_id: id('ad'),
    sha256: Sha256,
    duration_ms: z.int().min(1),
    fit: z.enum(['contain', 'cover', 'stretch']),
    muted: z.boolean(),
    not_before: Timestamp.nullable().meta({ description: 'First instant of the first day; null: no bound' }),
    not_after: Timestamp.nullable().meta({ description: 'First instant after the last day; null: no bound' }),
  })
  .meta({ id: 'ManifestItem' });

const Slot = z
  .object({
    start_at: Timestamp.nullable().meta({ description: 'null: it was so when the covered time begins' }),
    end_at: Timestamp.nullable().meta({ description: 'null: it is still so when the covered time ends' }),
    campaign_ad_ids: z.array(id('campaign_ad')).min(1).meta({ description: 'In the order of play, round and round' }),
  })
  .meta({ id: 'ManifestSlot' });

const ManifestScreen = z
  .object({
    screen_id: id('screen'),
    output: z.string(),
    width_px: z.int(),
    height_px: z.int(),
    slots: z.array(Slot).meta({ description: 'In the order of time; a gap is nothing to play' }),
  })
  .meta({ id: 'ManifestScreen' });

const ManifestHoldout = z
  .object({
    campaign_id: id('campaign'),
    version: z.int().min(1),
    start_at: Timestamp,
    end_at: Timestamp,
  })
  .meta({ id: 'ManifestHoldout', description: 'When a campaign is kept off the screens, to compare' });

/** What the hash is over: no addresses, no version, and none of the instants that pass by themselves. */
export const ManifestContent = z.object({
  schema_version: z.literal(1),
  device_id: id('device'),
  location_id: id('location').nullable(),
  timezone: z.string().nullable(),
  files: z.array(z.object(fileFields)),
  items: z.array(ManifestItem),
  screens: z.array(ManifestScreen),
  holdouts: z.array(ManifestHoldout),
});

/** What a device plays: the schedule of its screens for the covered time, and the files for it. */
export const Manifest = z
  .object({
    ...ManifestContent.shape,
    version: z.int().min(1).meta({ description: 'Of this device; one more whenever the hash differs from the last' }),
    hash: Sha256.meta({ description: 'SHA-256 over RFC 8785 JSON of the content, without addresses of files' }),
    generated_at: Timestamp,
    covers_from: Timestamp.meta({ description: 'First instant of the local day' }),
    covers_to: Timestamp.meta({ description: 'First instant of a local day, 48 hours ahead or more' }),
    files: z.array(ManifestFile),
  })
  .meta({ id: 'Manifest' });
