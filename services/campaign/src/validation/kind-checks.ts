import { error, warning } from './ad-checks.ts';
import type { AdFacts, AssetFacts, ScreenKindFacts } from './facts.ts';
import type { Check } from './report.ts';

/** Checks of an ad on screens of one kind. */

type Fit = AdFacts['fit'];

/** Shares of the screen or the picture: above them it looks bad, or wrong. */
const limits = { bad: 0.1, wrong: 0.25 };

const rounded = (value: number) => Math.round(value * 10_000) / 10_000;

type ScreenSize = Pick<ScreenKindFacts, 'width_px' | 'height_px'>;

/** How far two shapes differ, from 0 to 1 with 4 decimals: the share left as bars, cut off, or distorted. */
export function shapeDifference(asset: Pick<AssetFacts, 'width' | 'height'>, kind: ScreenSize): number {
  const [a, s] = [asset.width / asset.height, kind.width_px / kind.height_px];
  return rounded(1 - Math.min(a, s) / Math.max(a, s));
}

/** By how much the fit enlarges the asset on the screen; where it does so differently in width and height, the larger. */
export function enlargement(asset: Pick<AssetFacts, 'width' | 'height'>, kind: ScreenSize, fit: Fit): number {
  const factors = [kind.width_px / asset.width, kind.height_px / asset.height];
  return fit === 'contain' ? Math.min(...factors) : Math.max(...factors);
}

const shapes: Readonly<Record<Fit, readonly [Check['code'], (percent: string) => string]>> = {
  contain: ['letterbox', (percent) => `${percent} of the screen would be left as bars.`],
  cover: ['crop', (percent) => `${percent} of the picture would be cut off.`],
  stretch: ['distortion', (percent) => `The picture would be distorted by ${percent}.`],
};

export function checkKind(ad: AdFacts, asset: AssetFacts, kind: ScreenKindFacts): Check[] {
  const size = `${kind.width_px} × ${kind.height_px}`;
  const difference = shapeDifference(asset, kind);
  const percent = `${(difference * 100).toFixed(1)} %`;
  const [shapeCode, shapeDetail] = shapes[ad.fit];
  const factor = enlargement(asset, kind, ad.fit);
  const checks = [
    kind.accepted_formats.includes(asset.mime)
      ? undefined
      : error('format', `Screens of ${size} do not accept ${asset.mime}.`),
    difference > limits.wrong
      ? error('aspect_ratio', `On ${size}: ${shapeDetail(percent)}`, difference, limits.wrong)
      : undefined,
    difference > limits.bad && difference <= limits.wrong
      ? warning(shapeCode, `On ${size}: ${shapeDetail(percent)}`, difference, limits.bad)
      : undefined,
    factor > 1
      ? warning('upscaled', `On ${size} it is enlarged ${factor.toFixed(2)} times.`, rounded(factor), 1)
      : undefined,
    asset.audio && !ad.muted && !kind.audio
      ? warning('audio_on_silent_screen', `Screens of ${size} without sound would show it silently.`)
      : undefined,
    kind.not_installed > 0
      ? warning('not_installed', `${kind.not_installed} of ${kind.screen_count} screens are in no live installation.`)
      : undefined,
    kind.inactive > 0
      ? warning('location_inactive', `${kind.inactive} of ${kind.screen_count} screens are in an inactive location.`)
      : undefined,
  ];
  return checks.filter((check) => check !== undefined);
}
