import { enlargement, shapeDifference } from '../validation/index.ts';
import type { ReachedKind, ScoredAdFacts, ScoringFacts } from './facts.ts';
import { type Component, type ScoredAd, type Scorer, toTenth } from './scorer.ts';

/** Rules of thumb that nothing was measured for. Each component is shown, so that anybody can compute the score again. */

/** In hundredths. They add up to 100. */
const weights = {
  contrast: 15,
  sharpness: 15,
  colour: 10,
  text_density: 15,
  fit: 20,
  resolution: 10,
  duration: 10,
  brief: 5,
} as const;
type Key = keyof typeof weights;

export const heuristic: Scorer = {
  model: 'heuristic-1',
  heuristic: true,
  score: async (facts) => facts.ads.map((ad) => scoreAd(ad, facts)),
};

function scoreAd(ad: ScoredAdFacts, facts: ScoringFacts): ScoredAd {
  const { look, kinds, fit } = ad;
  const unseen = 'Nothing could decode the file';
  const ofLook = (value: number | undefined, what: string): Found => [value ?? 0, look ? what : unseen];
  const shape = meanOf(kinds, (kind) => 100 * (1 - shapeDifference(ad, kind)));
  const size = meanOf(kinds, (kind) => 100 * Math.min(1, 1 / enlargement(ad, kind, fit)));
  const screens = kinds.reduce((sum, { count }) => sum + count, 0);
  const found: Readonly<Record<Key, Found>> = {
    contrast: ofLook(look?.contrast, 'How far light and dark parts differ'),
    sharpness: ofLook(look?.sharpness, 'How clear the edges are'),
    colour: ofLook(look?.colour, 'How colourful it is'),
    text_density: ofLook(
      look ? textValue(look.text_density) : undefined,
      look ? `${look.text_density} % of it looks like text; 2 to 20 % is best` : '',
    ),
    fit: [shape, screens === 0 ? 'It reaches no screen' : `How well its shape fits ${screens} screens`],
    resolution: [size, screens === 0 ? 'It reaches no screen' : `How little it is enlarged on ${screens} screens`],
    duration: [durationValue(ad.duration_ms / 1000), `${ad.duration_ms / 1000} s; 6 to 15 s is best`],
    brief: briefOf(facts),
  };
  const components = (Object.keys(weights) as Key[]).map((key): Component => {
    const [value, detail] = found[key];
    return { key, weight: weights[key] / 100, value: toTenth(value), detail };
  });
  return { campaign_ad_id: ad.campaign_ad_id, score: totalOf(components), components };
}

/** A value from 0 to 100, and what it tells. */
type Found = readonly [value: number, detail: string];

/** The sum of weight times value, to one decimal, half up; by whole numbers, as halves are not exact in binary. */
export function totalOf(components: readonly Pick<Component, 'weight' | 'value'>[]): number {
  const thousandths = components.reduce(
    (sum, { weight, value }) => sum + Math.round(weight * 100) * Math.round(value * 10),
    0,
  );
  return Math.floor((thousandths + 50) / 100) / 10;
}

function meanOf(kinds: readonly ReachedKind[], worthOf: (kind: ReachedKind) => number): number {
  const screens = kinds.reduce((sum, { count }) => sum + count, 0);
  return screens === 0 ? 0 : kinds.reduce((sum, kind) => sum + kind.count * worthOf(kind), 0) / screens;
}

/** Of the percentage of the picture that looks like text. */
export function textValue(percent: number): number {
  if (percent <= 2) return 50 * percent;
  if (percent <= 20) return 100;
  return Math.max(0, (100 * (60 - percent)) / 40);
}

export function durationValue(seconds: number): number {
  if (seconds < 6) return Math.max(0, (100 * (seconds - 1)) / 5);
  if (seconds <= 15) return 100;
  return Math.max(0, (100 * (60 - seconds)) / 45);
}

function briefOf({ product, objective, outcome }: ScoringFacts): Found {
  const given = [product, objective, outcome].filter((text) => text !== null && text !== '').length;
  return [(100 * given) / 3, `${given} of product, objective and outcome are said`];
}
