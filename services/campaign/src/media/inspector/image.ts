import type { MediaType } from '@attribution/contracts';
import type { Metadata } from 'sharp';
import { BadContent } from '../failure.ts';
import type { Probe } from '../probe.ts';
import { varies } from './frames.ts';
import { openPicture } from './pictures.ts';
import { structureOf } from './structure.ts';
import type { MediaLimits } from './tasks.ts';

/** Degrees clockwise, by EXIF orientation; mirrored ones are turned after they were mirrored. */
const rotations = [0, 0, 0, 180, 180, 270, 90, 90, 270] as const;

/** Reads a picture: its header against the limits first, then all of its pixels. Throws `BadContent`. */
export async function probeImage(path: string, mime: MediaType, limits: MediaLimits['image']): Promise<Probe> {
  const { truncated, hdr = false } = await structureOf(path, mime);
  const metadata = await openPicture(path, { animated: true })
    .metadata()
    .catch((error: unknown) => {
      throw fault(error, truncated);
    });
  const { width, pageHeight: height = metadata.height, pages: frames = 1 } = metadata;
  requireWithinLimits(limits, width, height, frames);
  if (truncated) throw new BadContent('truncated', 'The file ends before its header says that it does.');
  // Of all frames, to find damage that the header does not show.
  await openPicture(path, { animated: frames > 1 })
    .stats()
    .catch((error: unknown) => {
      throw fault(error, truncated);
    });
  const turned = (metadata.orientation ?? 1) >= 5;
  return {
    mime,
    ...(turned ? { width: height, height: width } : { width, height }),
    rotation: rotations[metadata.orientation ?? 1] ?? 0,
    codec: mime.slice('image/'.length),
    ...timeOf(metadata, frames),
    audio: false,
    bit_depth: metadata.bitsPerSample ?? (metadata.depth === 'ushort' ? 16 : 8),
    chroma: mime === 'image/jpeg' ? (metadata.chromaSubsampling ?? null) : null,
    colour: colourOf(metadata),
    hdr,
  };
}

function requireWithinLimits(limits: MediaLimits['image'], width: number, height: number, frames: number): void {
  const tooMany = (detail: string) => new BadContent('too_many_pixels', detail);
  if (Math.max(width, height) > limits.side)
    throw tooMany(`It has ${width} x ${height} pixels, of ${limits.side} a side at most.`);
  if (width * height > limits.framePixels)
    throw tooMany(`It has ${width} x ${height} pixels, of ${limits.framePixels} at most.`);
  if (frames > limits.frames)
    throw new BadContent('too_many_frames', `It has ${frames} frames, of ${limits.frames} at most.`);
  if (width * height * frames > limits.pixels)
    throw tooMany(`Its ${frames} frames have ${width} x ${height} pixels each, of ${limits.pixels} in all at most.`);
}

/** What libvips says where a file ends too early. */
const early = /premature|truncat|unexpected end|end of (file|stream|image)|not enough|read error|too short/i;

function fault(error: unknown, truncated: boolean): BadContent {
  const text = error instanceof Error ? error.message : String(error);
  if (truncated || early.test(text)) return new BadContent('truncated', 'The file ends too early.');
  return new BadContent('unreadable', 'The picture is damaged.');
}

function timeOf({ delay }: Metadata, frames: number) {
  if (frames === 1) return {};
  // A delay of 0 is played as 100 ms.
  const lasts = Array.from({ length: frames }, (_, at) => delay?.[at] || 100);
  const duration_ms = lasts.reduce((sum, last) => sum + last, 0);
  const fps = Math.round((frames * 1_000_000) / duration_ms) / 1_000;
  return { duration_ms, fps, frames, variable_frame_rate: varies(lasts) };
}

function colourOf({ space, icc }: Metadata): Probe['colour'] {
  if (space === 'cmyk') return 'cmyk';
  if (icc === undefined) return space === 'lab' || space === 'xyz' ? 'other' : 'srgb';
  const name = profileName(icc);
  if (/srgb/i.test(name)) return 'srgb';
  if (/display p3/i.test(name)) return 'display-p3';
  if (/2020|2100/.test(name)) return 'bt2020';
  return /^b-w$|^grey16$/.test(space ?? '') ? 'srgb' : 'other';
}

/** The description of an ICC profile (ICC.1 §9.2.41), as text of one or two bytes a character. */
function profileName(icc: Buffer): string {
  const count = Math.min(icc.length >= 132 ? icc.readUInt32BE(128) : 0, 100);
  for (let at = 132, left = count; left > 0 && at + 12 <= icc.length; left--, at += 12) {
    if (icc.toString('latin1', at, at + 4) !== 'desc') continue;
    const [start, size] = [icc.readUInt32BE(at + 4), icc.readUInt32BE(at + 8)];
    return icc.toString('latin1', start, Math.min(start + size, icc.length)).replaceAll('\0', '');
  }
  return '';
}
