import { expect, test } from '@jest/globals';
import type { ScoredAdFacts, ScoringFacts } from '../src/scoring/facts.ts';
import { signatureOf } from '../src/scoring/facts.ts';
import { durationValue, heuristic, textValue, totalOf } from '../src/scoring/heuristic.ts';

const ad: ScoredAdFacts = {
  ...{
    campaign_ad_id: 'cad_1',
    ad_id: 'ad_1',
    sha256: 'a',
    duration_ms: 10_000,
    fit: 'contain',
    screen_tag: 'entrance',
  },
  ...{ width: 1920, height: 1080, look: { contrast: 80, sharpness: 60, colour: 40, text_density: 1 } },
  kinds: [{ width_px: 1920, height_px: 1080, count: 2 }],
};
const facts: ScoringFacts = { product: 'Shoes', objective: null, outcome: '', ads: [ad] };
const signal = new AbortController().signal;

test.each([
  [0, 0],
  [1, 50],
  [2, 100],
  [20, 100],
  [40, 50],
  [60, 0],
  [100, 0],
])('a picture with %d %% of text is worth %d', (percent, value) => expect(textValue(percent)).toBe(value));

test.each([
  [1, 0],
  [3.5, 50],
  [6, 100],
  [15, 100],
  [37.5, 50],
  [60, 0],
  [300, 0],
])('an ad of %d s is worth %d', (seconds, value) => expect(durationValue(seconds)).toBe(value));

test('every component is shown, and the score is their sum', async () => {
  const [scored] = await heuristic.score(facts, signal);
  expect(scored?.components.map(({ key, weight, value }) => [key, weight, value])).toEqual([
    ['contrast', 0.15, 80],
    ['sharpness', 0.15, 60],
    ['colour', 0.1, 40],
    ['text_density', 0.15, 50],
    ['fit', 0.2, 100],
    ['resolution', 0.1, 100],
    ['duration', 0.1, 100],
    ['brief', 0.05, 33.3],
  ]);
  // 12 + 9 + 4 + 7.5 + 20 + 10 + 10 + 1.665
  expect(scored?.score).toBe(74.2);
});

test('without a look and without screens these components are 0', async () => {
  const [scored] = await heuristic.score({ ...facts, ads: [{ ...ad, look: null, kinds: [] }] }, signal);
  const values = Object.fromEntries(scored?.components.map(({ key, value }) => [key, value]) ?? []);
  expect(values).toMatchObject({ contrast: 0, sharpness: 0, colour: 0, text_density: 0, fit: 0, resolution: 0 });
});

test('half a tenth is rounded up, whatever binary fractions say', () => {
  expect(
    totalOf([
      { weight: 0.15, value: 0.3 },
      { weight: 0.05, value: 0.1 },
    ]),
  ).toBe(0.1); // 0.05 exactly
  expect(totalOf([{ weight: 0.35, value: 4.3 }])).toBe(1.5); // 1.505
});

test('the signature is that of what is scored, in any order, and of nothing else', () => {
  const other = { ...ad, campaign_ad_id: 'cad_2' };
  const signature = signatureOf('heuristic-1', { ...facts, ads: [ad, other] });
  expect(signature).toMatch(/^[0-9a-f]{64}$/);
  expect(signatureOf('heuristic-1', { ...facts, ads: [other, ad] })).toBe(signature);
  expect(signatureOf('heuristic-1', { ...facts, ads: [{ ...ad, look: null }, other] })).toBe(signature);
  for (const changed of [
    { ...facts, product: null, ads: [ad, other] },
    { ...facts, ads: [ad] },
    { ...facts, ads: [{ ...ad, screen_tag: 'window' }, other] },
    { ...facts, ads: [{ ...ad, kinds: [{ width_px: 1920, height_px: 1080, count: 3 }] }, other] },
  ])
    expect(signatureOf('heuristic-1', changed)).not.toBe(signature);
  expect(signatureOf('heuristic-2', { ...facts, ads: [ad, other] })).not.toBe(signature);
});
