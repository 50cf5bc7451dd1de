import { join } from 'node:path';
import { type MediaType, mediaLimits, mediaTypes } from '@attribution/contracts';
import type { Look, Technical } from './analysis.ts';
import type { AnalysisRow, AssetChange, AssetRow } from './asset.store.ts';
import { BadContent } from './failure.ts';
import type { Decoder } from './ffmpeg.ts';
import { inspect } from './inspect.ts';
import type { Probe } from './probe.ts';

/** All that there is to know of a file that can be used. */
export interface Findings {
  readonly bytes: number;
  readonly sha256: string;
  readonly probe: Probe;
  /** The columns of the asset that are now as found. */
  readonly found: AssetChange;
  readonly analysis: Pick<AnalysisRow, 'analyser' | 'heuristic' | 'frame_at_ms' | 'technical' | 'look'>;
  /** The bytes of the files `poster` and `thumbnail`; null where no decoder could make them. */
  readonly pictures: { readonly poster: number; readonly thumbnail: number } | null;
}

interface Given {
  /** Has the file `content`; gets `poster` and `thumbnail`. */
  readonly folder: string;
  readonly asset: AssetRow;
  readonly bytes: number;
  readonly sha256: string;
  readonly decoder: Decoder | undefined;
  readonly signal: AbortSignal;
  progress(percent: number): Promise<void>;
  /** Gets what was found, also where the file is then refused. */
  readonly found: AssetChange;
}

/** How long all frames of a video may take to decode. A video that needs longer is sampled. */
const decodeWithinMs = 5 * 60_000;

/** Judges a file, and makes its pictures. Throws `BadContent`, and other errors where we are at fault. */
export async function analyse(given: Given): Promise<Findings> {
  const { folder, asset, bytes, sha256, signal, progress, found } = given;
  const path = join(folder, 'content');
  const probed = await inspect<'probe'>(
    { kind: 'probe', path, declared: asset.mime_type, limits: mediaLimits },
    signal,
  );
  noteType(found, probed.found);
  if (probed.failure) throw new BadContent(probed.failure.code, probed.failure.detail);
  const { probe } = probed;
  if (!probe) throw new Error('The inspector answered neither a probe nor a failure');
  await progress(50);
  const seen = asset.kind === 'image' ? await ofImage(given, path, probe) : await ofVideo(given, path, probe);
  return {
    ...{ bytes, sha256, probe, found },
    pictures: seen.pictures,
    analysis: {
      analyser: 'look-1',
      heuristic: true,
      frame_at_ms: seen.frame_at_ms,
      technical: seen.technical,
      look: seen.look,
    },
  };
}

function noteType(found: AssetChange, type: string | null): void {
  if (type === null) return;
  found.mime_type = type;
  const known = mediaTypes[type as MediaType];
  if (known) found.kind = known.kind;
}

interface Seen {
  readonly technical: Technical;
  readonly look: Look | null;
  readonly pictures: Findings['pictures'];
  readonly frame_at_ms: number | null;
}

async function ofImage({ folder, signal, bytes }: Given, path: string, probe: Probe): Promise<Seen> {
  const { duration_ms, frames = 1 } = probe;
  const bitrate_kbps = duration_ms === undefined ? null : kilobits(bytes, duration_ms);
  const technical: Technical = { bitrate_kbps, decode: 'complete', decoded_frames: frames };
  return { technical, ...(await rendered(folder, path, signal)), frame_at_ms: null };
}

async function ofVideo({ folder, signal, decoder, bytes, progress }: Given, path: string, probe: Probe): Promise<Seen> {
  const { duration_ms = 0, frames = 0, mime } = probe;
  const frame_at_ms = Math.min(1_000, Math.floor(duration_ms / 2));
  const bitrate_kbps = kilobits(bytes, duration_ms);
  if (!decoder) {
    const technical: Technical = { bitrate_kbps, decode: 'none', decoded_frames: 0 };
    return { technical, look: null, pictures: null, frame_at_ms };
  }
  const decoded = await decoder.check(path, mime, frames, decodeWithinMs, signal);
  await progress(70);
  const frame = join(folder, 'frame.png');
  await decoder.frame(path, mime, frame_at_ms, frame, signal);
  const technical: Technical = { bitrate_kbps, decode: decoded.decode, decoded_frames: decoded.frames };
  return { technical, ...(await rendered(folder, frame, signal)), frame_at_ms };
}

async function rendered(folder: string, path: string, signal: AbortSignal): Promise<Pick<Seen, 'look' | 'pictures'>> {
  const [poster, thumbnail] = [join(folder, 'poster'), join(folder, 'thumbnail')];
  const made = await inspect<'render'>({ kind: 'render', path, poster, thumbnail }, signal);
  return { look: made.look, pictures: { poster: made.poster, thumbnail: made.thumbnail } };
}

/** Bits a millisecond are kilobits a second. */
const kilobits = (bytes: number, ms: number) => (ms > 0 ? Math.round((bytes * 8) / ms) : 0);
