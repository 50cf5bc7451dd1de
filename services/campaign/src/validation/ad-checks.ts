import type { AdFacts, AssetFacts } from './facts.ts';
import type { Check } from './report.ts';

/** Checks of an ad by itself, whatever the screens. */

/** Codecs that devices play, by the media type of the file. */
const codecs: Readonly<Record<string, readonly string[]>> = {
  'video/mp4': ['h264', 'hevc', 'av1'],
  'video/webm': ['vp8', 'vp9', 'av1'],
};
const scarceCodecs = ['hevc', 'av1'];
const usualColours = ['srgb', 'bt709', 'bt601'];

/** An ad may outlast its video by so many milliseconds: containers round. */
const durationTolerance = 100;
const usualDuration = { min: 5_000, max: 60_000 };

export function checkAd(ad: AdFacts): Check[] {
  const { asset, decoding } = ad;
  const checks: (Check | undefined)[] = [
    ad.reaches ? undefined : warning('no_screen', `No screen that the target reaches has the tag ${ad.screen_tag}.`),
    decoding && decoding.decode !== 'none' && decoding.decoded_frames === 0
      ? error('undecodable', 'The file could not be decoded.')
      : undefined,
    decoding?.decode === 'none'
      ? warning('decode_unverified', 'Nothing here could decode the file, so nobody knows whether it is whole.')
      : undefined,
    ...(asset?.kind === 'video' ? checkVideo(asset) : []),
    ...(asset ? checkDuration(ad, asset) : []),
    ...(asset ? checkPicture(asset) : []),
    ad.score === null
      ? warning('not_scored', `The ad for screens tagged ${ad.screen_tag} has no score yet.`)
      : undefined,
  ];
  return checks.filter((check) => check !== undefined);
}

function checkVideo({ mime, codec, chroma, bit_depth }: AssetFacts): (Check | undefined)[] {
  const scarce = scarceCodecs.includes(codec)
    ? warning('codec_support', `Not every device plays ${codec}.`)
    : undefined;
  return [codecFault(mime, codec, chroma, bit_depth), scarce];
}

function codecFault(mime: string, codec: string, chroma: string | null, depth: number | null): Check | undefined {
  if (!codecs[mime]?.includes(codec)) return error('codec', `Devices do not play ${codec} in ${mime}.`);
  if (chroma !== null && chroma !== '4:2:0')
    return error('codec', `Devices play video with chroma 4:2:0 only, not ${chroma}.`);
  if (codec === 'h264' && depth !== null && depth > 8)
    return error('codec', `Devices play h264 with 8 bits only, not ${depth}.`, depth, 8);
  return undefined;
}

function checkDuration({ duration_ms }: AdFacts, asset: AssetFacts): (Check | undefined)[] {
  const checks: (Check | undefined)[] = [];
  const whole = asset.kind === 'video' ? asset.duration_ms : undefined;
  if (whole !== undefined && duration_ms > whole + durationTolerance)
    checks.push(
      error('duration', `The ad takes ${duration_ms} ms, but its video only ${whole} ms.`, duration_ms, whole),
    );
  const { min, max } = usualDuration;
  if (duration_ms < min)
    checks.push(warning('duration_unusual', `The ad takes less than ${min} ms.`, duration_ms, min));
  if (duration_ms > max)
    checks.push(warning('duration_unusual', `The ad takes more than ${max} ms.`, duration_ms, max));
  return checks;
}

function checkPicture({ rotation, variable_frame_rate, colour, hdr }: AssetFacts): (Check | undefined)[] {
  const unusual = hdr || (colour !== null && !usualColours.includes(colour));
  return [
    rotation === 0
      ? undefined
      : warning('rotation', `A player has to turn it by ${rotation}°, and not every device does.`, rotation, 0),
    variable_frame_rate ? warning('variable_frame_rate', 'Its frames last differently long.') : undefined,
    unusual
      ? warning(
          'colour_profile',
          `Its colours (${colour ?? 'unknown'}${hdr ? ', HDR' : ''}) may look different on screens.`,
        )
      : undefined,
  ];
}

type Code = Check['code'];
const make =
  (severity: Check['severity']) =>
  (code: Code, detail: string, measured?: number, limit?: number): Check => ({
    ...{ code, severity, detail },
    ...(measured !== undefined && { measured }),
    ...(limit !== undefined && { limit }),
  });
export const error = make('error');
export const warning = make('warning');
