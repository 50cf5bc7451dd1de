import type { Probe } from '../probe.ts';

/** What a codec string (RFC 6381) says of the samples; nulls where it does not. */
export interface Samples {
  readonly bit_depth: number | null;
  readonly chroma: string | null;
}

const of = (bit_depth: number | null, chroma: string | null): Samples => ({ bit_depth, chroma });
const unknown = of(null, null);

/** ITU-T H.264 §A.2, by profile_idc. High 10 and the like allow less, so those are what a player has to expect. */
const h264: Readonly<Record<number, Samples>> = {
  66: of(8, '4:2:0'),
  77: of(8, '4:2:0'),
  88: of(8, '4:2:0'),
  100: of(8, '4:2:0'),
  110: of(10, '4:2:0'),
  122: of(10, '4:2:2'),
  244: of(null, '4:4:4'),
};
/** ITU-T H.265 §A.3, by general_profile_idc. */
const hevc: Readonly<Record<string, Samples>> = { 1: of(8, '4:2:0'), 2: of(10, '4:2:0'), 3: of(8, '4:2:0') };
/** VP9 bindings: 00 4:2:0 vertical, 01 4:2:0 colocated, 02 4:2:2, 03 4:4:4. */
const vp9Chroma: Readonly<Record<string, string>> = { '00': '4:2:0', '01': '4:2:0', '02': '4:2:2', '03': '4:4:4' };

export function samplesOf(codec: string, codecString: string): Samples {
  const parts = codecString.split('.');
  const [, second = '', , fourth, fifth] = parts;
  if (codec === 'h264') return h264[Number.parseInt(second.slice(0, 2), 16)] ?? unknown;
  if (codec === 'hevc') return hevc[second.replace(/^[A-C]/, '')] ?? unknown;
  if (codec === 'vp8') return of(8, '4:2:0');
  if (codec === 'vp9') {
    const [, profile = '', , depth] = parts;
    const chroma = profile === '00' || profile === '02' ? '4:2:0' : (vp9Chroma[fifth ?? ''] ?? null);
    return of(depth === undefined ? null : Number(depth), chroma);
  }
  if (codec === 'av1') {
    const chroma = second === '0' ? '4:2:0' : second === '1' ? '4:4:4' : null;
    return of(fourth === undefined ? null : Number(fourth), chroma);
  }
  return unknown;
}

/** The contract's names of what the demuxer calls otherwise. */
export const codecNames: Readonly<Record<string, string>> = { avc: 'h264' };

interface ColourSpace {
  readonly primaries?: string | null | undefined;
  readonly transfer?: string | null | undefined;
  readonly matrix?: string | null | undefined;
}

/** By the matrix and the primaries (ITU-T H.273), as WebCodecs names them. */
export function colourOf({ primaries, matrix, transfer }: ColourSpace): Probe['colour'] {
  if (primaries === 'bt2020' || matrix === 'bt2020-ncl') return 'bt2020';
  if (primaries === 'smpte432') return 'display-p3';
  if (transfer === 'iec61966-2-1' && (primaries === 'bt709' || !primaries)) return 'srgb';
  if (matrix === 'bt709' || (!matrix && primaries === 'bt709')) return 'bt709';
  if (matrix === 'smpte170m' || matrix === 'bt470bg') return 'bt601';
  if (!primaries && !matrix) return null;
  return matrix === 'rgb' ? 'srgb' : 'other';
}
