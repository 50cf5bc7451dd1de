import { z } from 'zod';
import { Name, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { ExternalId } from './common.ts';
import { fitsSize, orientations, ScreenPixels } from './screen-size.ts';
import { Tags } from './tags.ts';

/** The resources inside a location: zones, screens, installations and cameras. */

const made = { created_at: Timestamp, updated_at: Timestamp };

export const zoneKinds = ['entrance', 'aisle', 'checkout', 'window', 'other'] as const;

const zoneFields = {
  name: Name().meta({ example: 'Shop window' }),
  external_id: ExternalId,
  kind: z.enum(zoneKinds).meta({ description: 'What people do there', example: 'window' }),
};

export const Zone = z
  .object({ id: id('zone'), location_id: id('location'), ...zoneFields, ...made })
  .meta({ id: 'Zone', description: 'A part of a location' });

export const NewZone = z
  .object({
    location_id: id('location'),
    ...zoneFields,
    external_id: ExternalId.default(null),
    kind: zoneFields.kind.default('other'),
  })
  .meta({
    id: 'NewZone',
    example: { location_id: 'loc_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f', name: 'Shop window', kind: 'window' },
  });
export const ZoneChange = z.object(zoneFields).partial();

export const screenFormats = ['image/jpeg', 'image/png', 'image/webp', 'image/gif', 'video/mp4', 'video/webm'] as const;

const screenFields = {
  zone_id: id('zone'),
  name: Name().meta({ example: 'Window left' }),
  external_id: ExternalId,
  tags: Tags,
  width_px: ScreenPixels,
  height_px: ScreenPixels,
  orientation: z.enum(orientations).meta({ description: 'Follows from the size', example: 'landscape' }),
  accepted_formats: z
    .array(z.enum(screenFormats))
    .min(1)
    .max(screenFormats.length)
    .transform((formats) => screenFormats.filter((format) => formats.includes(format)))
    .meta({ description: 'Media types that it plays', example: ['image/jpeg', 'image/png', 'video/mp4'] }),
  audio: z.boolean().meta({ description: 'Whether it plays sound' }),
};

export const Screen = z
  .object({
    id: id('screen'),
    location_id: id('location'),
    ...screenFields,
    tags: z.array(z.string()).meta({ description: 'Normalized, sorted', example: ['eye-level', 'window'] }),
    accepted_formats: z.array(z.enum(screenFormats)).meta({ description: 'Media types that it plays' }),
    ...made,
  })
  .meta({ id: 'Screen', description: 'Shows campaigns; found by its tags' });

export const NewScreen = z
  .object({
    ...screenFields,
    external_id: ExternalId.default(null),
    tags: Tags.default([]),
    orientation: screenFields.orientation.optional(),
    accepted_formats: screenFields.accepted_formats.default(['image/jpeg', 'image/png', 'video/mp4']),
    audio: screenFields.audio.default(false),
  })
  .check(refinedBy(fitsSize))
  .meta({
    id: 'NewScreen',
    example: {
      zone_id: 'zon_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      name: 'Window left',
      tags: ['window', 'eye-level'],
      width_px: 1920,
      height_px: 1080,
    },
  });
export const ScreenChange = z.object(screenFields).partial();

const Output = z
  .object({
    output: Name(64).meta({ description: "The device's connector", example: 'HDMI-1' }),
    screen_id: id('screen'),
  })
  .meta({ id: 'InstallationOutput' });

const differ = (key: 'output' | 'screen_id') => (outputs: readonly z.output<typeof Output>[]) =>
  new Set(outputs.map((wire) => wire[key])).size === outputs.length;

const installationFields = {
  name: Name().nullable().meta({ example: 'Player behind the counter' }),
  external_id: ExternalId,
  outputs: z
    .array(Output)
    .max(16)
    .refine(differ('output'), 'must name each output once')
    .refine(differ('screen_id'), 'must name each screen once')
    .meta({ description: 'Which screen of the location hangs on which output' }),
  status: z
    .enum(['live', 'removed'])
    .meta({ description: 'A device and a screen are in one live installation at most' }),
};

export const Installation = z
  .object({
    id: id('installation'),
    location_id: id('location'),
    device_id: id('device'),
    ...installationFields,
    installed_at: Timestamp,
    removed_at: Timestamp.nullable(),
    ...made,
  })
  .meta({ id: 'Installation', description: 'A device in a location, wired to screens' });

export const NewInstallation = z
  .object({
    location_id: id('location'),
    device_id: id('device'),
    ...installationFields,
    name: installationFields.name.default(null),
    external_id: ExternalId.default(null),
    outputs: installationFields.outputs.default([]),
    status: installationFields.status.default('live'),
  })
  .meta({
    id: 'NewInstallation',
    example: {
      location_id: 'loc_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      device_id: 'dev_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
      outputs: [{ output: 'HDMI-1', screen_id: 'scr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' }],
    },
  });
export const InstallationChange = z.object(installationFields).partial();

const cameraFields = {
  zone_id: id('zone'),
  device_id: id('device'),
  name: Name().meta({ example: 'Above the door' }),
  external_id: ExternalId,
};

export const Camera = z
  .object({ id: id('camera'), location_id: id('location'), ...cameraFields, ...made })
  .meta({ id: 'Camera', description: 'Looks at a zone; runs on a device' });

export const NewCamera = z.object({ ...cameraFields, external_id: ExternalId.default(null) }).meta({
  id: 'NewCamera',
  example: {
    zone_id: 'zon_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
    device_id: 'dev_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
    name: 'Above the door',
  },
});
export const CameraChange = z.object(cameraFields).partial();
