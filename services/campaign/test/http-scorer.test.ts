import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ScoringFacts } from '../src/scoring/facts.ts';
import { createHttpScorer } from '../src/scoring/http-scorer.ts';
import type { Scorer } from '../src/scoring/scorer.ts';

const facts: ScoringFacts = {
  ...{ product: 'Shoes', objective: null, outcome: null },
  ads: ['cad_1', 'cad_2'].map((campaign_ad_id) => ({
    ...{ campaign_ad_id, ad_id: 'ad_1', sha256: 'a', duration_ms: 10_000, fit: 'contain', screen_tag: 'entrance' },
    ...{ width: 1920, height: 1080, look: null, kinds: [{ width_px: 1920, height_px: 1080, count: 2 }] },
  })),
};
const components = [
  { key: 'memory', weight: 0.25, value: 40.04, detail: 'How many remember it' },
  { key: 'liking', weight: 0.75, value: 61.3, detail: 'How many like it' },
];
const scoresOf = (...ids: string[]) => ({
  scores: ids.map((campaign_ad_id) => ({ campaign_ad_id, components })),
});

/** What the server answers next, and what it was asked last. */
let next: { status?: number; body: string; hangs?: boolean };
let asked: { method: string | undefined; body: unknown };
const server = createServer(async (req, res) => {
  asked = { method: req.method, body: JSON.parse(Buffer.concat(await req.toArray()).toString()) };
  if (next.hangs) return;
  res.writeHead(next.status ?? 200, { 'content-type': 'application/json', location: '/elsewhere' }).end(next.body);
});
let scorer: Scorer;
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  scorer = createHttpScorer({ url: `http://127.0.0.1:${port}/score`, model: 'panel-3' });
});
afterAll(() => new Promise<void>((done) => server.close(() => done()).closeAllConnections()));
const score = (signal = new AbortController().signal) => scorer.score(facts, signal);

test('the server is told the model and the facts; a score is the sum of weight times value', async () => {
  next = { body: JSON.stringify(scoresOf('cad_2', 'cad_1')) };
  // 0.25 × 40.0 + 0.75 × 61.3 = 55.975
  const shown = components.map((one) => ({ ...one, value: Math.round(one.value * 10) / 10 }));
  expect(await score()).toEqual([
    { campaign_ad_id: 'cad_1', score: 56, components: shown },
    { campaign_ad_id: 'cad_2', score: 56, components: shown },
  ]);
  expect(asked).toEqual({ method: 'POST', body: { model: 'panel-3', ...facts } });
  expect(scorer).toMatchObject({ model: 'panel-3', heuristic: false });
});

test.each([
  ['a score is missing', { body: JSON.stringify(scoresOf('cad_1')) }, /no score for cad_2/],
  [
    'weights do not add up to 1',
    { body: JSON.stringify(scoresOf('cad_1', 'cad_2')).replaceAll('0.75', '0.5') },
    /add up to 0.75/,
  ],
  ['a value is past 100', { body: JSON.stringify(scoresOf('cad_1', 'cad_2')).replaceAll('61.3', '161.3') }, /100/],
  ['it answers 503', { status: 503, body: '{}' }, /answers 503/],
  ['it answers HTML', { body: '<html></html>' }, /JSON/],
  ['it sends elsewhere', { status: 302, body: '' }, /fetch failed/],
  ['it sends more than 4 MiB', { body: ' '.repeat(5 * 1024 * 1024) }, /more than 4 MiB/],
])('nothing is scored when %s', async (_, answer, message) => {
  next = answer;
  await expect(score()).rejects.toThrow(message);
});

test('a try that ends asks no longer', async () => {
  next = { body: '', hangs: true };
  await expect(score(AbortSignal.timeout(100))).rejects.toThrow(/abort|timeout/);
});
