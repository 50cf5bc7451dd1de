import { setTimeout as sleep } from 'node:timers/promises';
import { registeredNames } from '@attribution/registry';
import { type Chance, personToken } from '@attribution/testing';
import { startEdge } from '../edge/gateway.ts';
import { exchangeRaw } from '../edge/raw-exchange.ts';
import { startRecordingUpstream } from '../edge/recording-upstream.ts';
import { type Expected, type SmugglingCase, tokenPlaceholder } from '../edge/smuggling/case.ts';
import { smugglingCases } from '../edge/smuggling/index.ts';
import type { StrictRequest } from '../edge/smuggling/strict-request.ts';
import type { Experiment } from '../experiment.ts';

/** The number of parallel connections. */
const lanes = 16;
/** How long the gateway may take to end a connection: longer than its timeout for bodies that never arrive. */
const connectionTimeoutMs = 8_000;

/** Requests that two parsers could interpret differently: the upstream receives exactly what it should. */
export const smuggling: Experiment = {
  name: 'smuggling',
  rounds: { short: 2, long: 20 },
  async run({ chance, rounds, say }) {
    const upstream = await startRecordingUpstream();
    const upstreams = Object.fromEntries(registeredNames.map((name) => [name, upstream]));
    const edge = await startEdge(upstreams, { CLIENT_TIMEOUT_MS: '3000' });
    const tried: {
      one: SmugglingCase;
      fill: Fill;
      id: string;
      answers: readonly number[];
      ended: boolean;
      rest: string;
    }[] = [];
    try {
      for (let round = 0; round < rounds; round++) {
        const token = personToken();
        const waiting = [...smugglingCases.entries()];
        const lane = async () => {
          for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
            const [index, one] = entry;
            const id = (round * smugglingCases.length + index).toString(36).padStart(4, '0');
            const fill = (text: string) => text.replaceAll('CASE', id).replaceAll(tokenPlaceholder, token);
            const bytes = fill(one.bytes);
            // Whole in the first round, then in random pieces.
            const pieces = round === 0 ? [bytes] : cut(bytes, chance);
            const { statuses, ended, rest } = await exchangeRaw(edge.port, pieces, connectionTimeoutMs);
            tried.push({ one, fill, id, answers: statuses, ended, rest });
          }
        };
        await Promise.all(Array.from({ length: lanes }, lane));
        if (rounds > 2) say(`  ${round + 1} of ${rounds} rounds`);
      }
      await sleep(500); // Smuggled requests might arrive late.
      const faults = tried.flatMap(({ one, fill, id, answers, ended, rest }) => {
        const reached = upstream.requests.filter(({ target }) => target.includes(`=${id}`));
        const what = [
          ...difference(one, fill, reached),
          ...(ended ? [] : ['left open']),
          ...wrongAnswers(one, answers, rest),
        ];
        return what.length === 0 ? [] : [`${one.family}, ${one.name}: ${what.join('; ')}`];
      });
      const strange = upstream.ambiguous.map(({ why, bytes }) => `${why}: ${JSON.stringify(bytes.slice(0, 200))}`);
      const whole = tried.reduce((sum, { one }) => sum + one.upstream.length, 0);
      for (const line of [...faults, ...strange]) say(`  ${line}`);
      return [
        {
          what: `${new Set(smugglingCases.map(({ bytes }) => bytes)).size} distinct raw cases of ${new Set(smugglingCases.map(({ family }) => family)).size} families, whole and in pieces`,
          tried: tried.length,
          found: `${upstream.requests.length} requests upstream, ${strange.length} not plain, ${faults.length} cases otherwise than they must be`,
          bar: `${whole} upstream, 0, 0`,
          holds: faults.length === 0 && strange.length === 0 && upstream.requests.length === whole,
        },
      ];
    } finally {
      await edge.stop();
      await upstream.stop();
    }
  },
};

/** In up to five pieces. */
function cut(bytes: string, chance: Chance): string[] {
  const ends = Array.from({ length: chance.int(1, 4) }, () => chance.int(1, bytes.length - 1)).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, n) => bytes.slice(ends[n - 1] ?? 0, end)).filter(Boolean);
}

/** Puts the case's id and token into what is sent, and into what the upstream must receive. */
type Fill = (text: string) => string;

function difference({ upstream }: SmugglingCase, fill: Fill, reached: readonly StrictRequest[]): string[] {
  const found = reached.map(({ method, target }) => `${method} ${target}`);
  // Requests of one connection may overtake each other upstream; the gateway still answers them in order.
  const left = [...reached];
  const missing: Expected[] = [];
  for (const expected of upstream) {
    const at = left.findIndex((one) => matches(one, expected, fill));
    if (at === -1) missing.push(expected);
    else left.splice(at, 1);
  }
  if (missing.length === 0 && left.length === 0) return [];
  const wanted = upstream.map(({ method }) => method);
  return [`upstream saw ${found.join(', ') || 'nothing'} instead of ${wanted.join(', ') || 'nothing'} as it must be`];
}

function matches({ method, headers, body, target }: StrictRequest, expected: Expected, fill: Fill): boolean {
  return (
    !target.includes('hidden') &&
    method === expected.method &&
    body === fill(expected.body) &&
    Object.entries(expected.with ?? {}).every(([name, value]) => headers[name] === fill(value)) &&
    (expected.without ?? []).every((name) => !(name in headers))
  );
}

function wrongAnswers({ answers }: SmugglingCase, received: readonly number[], rest: string): string[] {
  if (received.join() === answers.join() && rest === '') return [];
  return [
    `the client received ${received.join(', ') || 'nothing'}${rest && ` and ${JSON.stringify(rest.slice(0, 80))}`}, not ${answers.join(', ')}`,
  ];
}
