import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey, createClient, signup } from '@attribution/contracts';
import { freePort } from '@attribution/servers';
import { type Case, compact, type Row, type Tools } from '../case.ts';
import { type LocalPlatform, startLocal } from '../platform/local.ts';
import { newOwner } from '../platform/owner.ts';
import { spreadOf } from '../statistics.ts';

/** Of each kind. */
const triesOf = ({ moment }: Tools) => (moment ? 1 : 200);
/** How far the medians may lie apart, as a share. */
const apart = 0.1;

interface Ask {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}
/** An endpoint that must not tell by its time whether there is such a subject. */
interface Pair {
  readonly what: string;
  readonly known: () => Ask;
  readonly unknown: () => Ask;
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const nobody = () => `nobody-${hex(5)}@example.com`;
const wrong = 'not the password';

async function pairsOn(platform: LocalPlatform): Promise<Pair[]> {
  const owner = await newOwner(platform.url, platform.mailDirectory, 1);
  const client = createClient({ baseUrl: platform.url });
  const unverified = `newcomer-${hex(5)}@example.com`;
  await client.call(signup, { body: { email: unverified, password: owner.password, full_name: 'Grace Hopper' } });
  const asOwner = client.with({ token: await owner.token() });
  const key = (await asOwner.call(createApiKey, { body: { name: 'Timed' } })).body;
  const other = (await asOwner.call(createApiKey, { body: { name: 'Another' } })).body;
  /** As long as a known one, and as well made. */
  const noKeyId = () => key.access_key_id.replace(/[A-Za-z0-9]{16}$/, hex(8));
  const by = (path: string, field: object) => ({ path, body: field });
  const exchange = (id: string) => ({
    path: '/v2/auth/api-token',
    headers: { 'x-access-key-id': id, 'x-access-key-secret': other.access_key_secret },
  });
  return [
    {
      what: 'POST /v2/auth/login, a wrong password',
      known: () => by('/v2/auth/login', { email: owner.email, password: wrong }),
      unknown: () => by('/v2/auth/login', { email: nobody(), password: wrong }),
    },
    {
      what: 'POST /v2/auth/verify-email/resend, unverified',
      known: () => by('/v2/auth/verify-email/resend', { email: unverified }),
      unknown: () => by('/v2/auth/verify-email/resend', { email: nobody() }),
    },
    {
      what: 'POST /v2/auth/verify-email/resend, verified',
      known: () => by('/v2/auth/verify-email/resend', { email: owner.email }),
      unknown: () => by('/v2/auth/verify-email/resend', { email: nobody() }),
    },
    {
      what: 'POST /v2/auth/forgot-password',
      known: () => by('/v2/auth/forgot-password', { email: owner.email }),
      unknown: () => by('/v2/auth/forgot-password', { email: nobody() }),
    },
    {
      what: 'POST /v2/auth/api-token, a wrong secret',
      known: () => exchange(key.access_key_id),
      unknown: () => exchange(noKeyId()),
    },
  ];
}

/** Known and unknown in turn, each from an address of its own, as limits count by address. Milliseconds. */
async function timed(platform: LocalPlatform, { known, unknown }: Pair, tries: number) {
  const times = { known: [] as number[], unknown: [] as number[] };
  const statuses = { known: new Set<number>(), unknown: new Set<number>() };
  let from = 0;
  for (let n = -Math.min(5, tries - 1); n < tries; n++) {
    for (const [kind, ask] of n % 2 === 0 ? kindsOf(known, unknown) : kindsOf(known, unknown).toReversed()) {
      const { path, body, headers } = ask();
      const address = `10.${from >> 16}.${(from >> 8) & 255}.${from++ & 255}`;
      const began = performance.now();
      const response = await fetch(platform.url + path, {
        method: 'POST',
        headers: { 'x-forwarded-for': address, ...(body && { 'content-type': 'application/json' }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      await response.arrayBuffer();
      if (n >= 0) times[kind].push(performance.now() - began);
      statuses[kind].add(response.status);
    }
  }
  const told = (kind: 'known' | 'unknown') => [...statuses[kind]].join(' ');
  return { known: spreadOf(times.known), unknown: spreadOf(times.unknown), alike: told('known') === told('unknown') };
}

const kindsOf = (known: () => Ask, unknown: () => Ask) => [['known', known] as const, ['unknown', unknown] as const];

async function rowOf(platform: LocalPlatform, pair: Pair, tools: Tools): Promise<Row> {
  const tries = triesOf(tools);
  const { known, unknown, alike } = await timed(platform, pair, tries);
  const ratio = known.median / unknown.median;
  tools.say(
    `  ${pair.what}: ${known.median.toFixed(2)} ms and ${unknown.median.toFixed(2)} ms, ratio ${ratio.toFixed(3)}`,
  );
  return {
    what: `${pair.what}: known beside unknown, medians of ${tries}`,
    ours: `${compact(known.median)} ms`,
    beside: `${compact(unknown.median)} ms`,
    ratio: { median: ratio, low: ratio, high: ratio },
    bar: `${1 - apart} to ${1 + apart}`,
    holds: alike && Math.abs(ratio - 1) <= apart,
  };
}

/** Whether answers tell by their time who is known (decisions 13, 14 and 20): the platform as `npm start` runs it. */
export const accountTiming: Case = {
  name: 'account: known and unknown take alike',
  async run(tools) {
    const directory = await mkdtemp(join(tmpdir(), 'bench-timing-'));
    const platform = await startLocal({ directory, port: await freePort() });
    try {
      const rows: Row[] = [];
      for (const pair of await pairsOn(platform)) rows.push(await rowOf(platform, pair, tools));
      return rows;
    } finally {
      await platform.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
};
