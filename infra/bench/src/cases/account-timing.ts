import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey, createClient } from '@attribution/contracts';
import { freePort } from '@attribution/servers';
import { type Case, compact, type Row, type Tools } from '../case.ts';
import { cheapHash, type LocalPlatform, startLocal } from '../platform/local.ts';
import { newOwner } from '../platform/owner.ts';
import { signUpPeople } from '../platform/people.ts';
import { spreadOf } from '../statistics.ts';

/** Requests of each kind. */
const triesOf = ({ smoke }: Tools) => (smoke ? 1 : 200);
/** Requests of each kind that come before, and are not counted. */
const warmUps = 5;
/** How far the ratio of the medians may be from 1. */
const tolerance = 0.1;

interface TimedRequest {
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}
/** An endpoint whose response time must not reveal whether an account or key exists. */
interface Pair {
  readonly what: string;
  readonly known: () => TimedRequest;
  readonly unknown: () => TimedRequest;
}

const hex = (bytes: number) => randomBytes(bytes).toString('hex');
const wrongPassword = 'not the password';

/** Codes an hour that an address gets after that of the sign-up, and wrong tries that no code ends by. */
const triesOfAnAddress = 4;

/** In each pair an address has so few tries that the budgets of known and unknown ones last. */
async function pairsOn(platform: LocalPlatform, tries: number): Promise<Pair[]> {
  const owner = await newOwner(platform.url, platform.mailDirectory, 1);
  const client = createClient({ baseUrl: platform.url });
  const asOwner = client.with({ token: await owner.token() });
  const key = (await asOwner.call(createApiKey, { body: { name: 'Timed' } })).body;
  const other = (await asOwner.call(createApiKey, { body: { name: 'Another' } })).body;
  /** Well-formed, and as long as an existing one. */
  const unknownKeyId = () => key.access_key_id.replace(/[A-Za-z0-9]{16}$/, hex(8));
  const exchange = (id: string) => ({
    path: '/v2/auth/api-token',
    headers: { 'x-access-key-id': id, 'x-access-key-secret': other.access_key_secret },
  });
  const count = Math.ceil((tries + warmUps) / triesOfAnAddress);
  const people = (verified: boolean) => signUpPeople(platform, count, { password: owner.password, verified });
  const strangers = () => Array.from({ length: count }, () => `nobody-${hex(6)}@example.com`);
  const [unverified, verified, forgetful] = [await people(false), await people(true), await people(true)];
  const [strange, stranger, strangest] = [strangers(), strangers(), strangers()];
  const pair = (path: string, how: string, known: readonly string[], unknown: readonly string[], more = {}): Pair => {
    const each = (emails: readonly string[]) => {
      let n = 0;
      return () => ({ path, body: { email: emails[n++ % emails.length], ...more } });
    };
    return { what: `POST ${path}, ${how}`, known: each(known), unknown: each(unknown) };
  };
  const wrongCode = { code: '000000' };
  const wrongReset = { ...wrongCode, new_password: 'a short swim at noon' };
  return [
    pair('/v2/auth/login', 'a wrong password', forgetful, strangers(), { password: wrongPassword }),
    pair('/v2/auth/verify-email/resend', 'unverified', unverified, strange),
    pair('/v2/auth/verify-email', 'a wrong code after a resend', unverified, strange, wrongCode),
    pair('/v2/auth/verify-email/resend', 'verified', verified, stranger),
    pair('/v2/auth/reset-password', 'a wrong code that nobody asked for', verified, strangers(), wrongReset),
    pair('/v2/auth/forgot-password', 'verified', forgetful, strangest),
    pair('/v2/auth/reset-password', 'a wrong code after it was asked for', forgetful, strangest, wrongReset),
    {
      what: 'POST /v2/auth/api-token, a wrong secret',
      known: () => exchange(key.access_key_id),
      unknown: () => exchange(unknownKeyId()),
    },
  ];
}

/**
 * Sends known and unknown requests in turn, each from an address of its own, because rate limits count by address.
 * Returns milliseconds.
 */
async function timed(platform: LocalPlatform, { known, unknown }: Pair, tries: number) {
  const times = { known: [] as number[], unknown: [] as number[] };
  const statuses = { known: new Set<number>(), unknown: new Set<number>() };
  let from = 0;
  for (let n = -Math.min(warmUps, tries - 1); n < tries; n++) {
    for (const [kind, request] of n % 2 === 0 ? kindsOf(known, unknown) : kindsOf(known, unknown).toReversed()) {
      const { path, body, headers } = request();
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
  const statusesOf = (kind: 'known' | 'unknown') => [...statuses[kind]].join(' ');
  const alike = statusesOf('known') === statusesOf('unknown');
  return { known: spreadOf(times.known), unknown: spreadOf(times.unknown), alike };
}

const kindsOf = (known: () => TimedRequest, unknown: () => TimedRequest) => [
  ['known', known] as const,
  ['unknown', unknown] as const,
];

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
    bar: `${1 - tolerance} to ${1 + tolerance}`,
    holds: alike && Math.abs(ratio - 1) <= tolerance,
  };
}

/** Whether response times reveal which accounts exist (decisions 12, 13, 14, 20 and 46), on the platform as `npm start` runs it. */
export const accountTiming: Case = {
  name: 'account: known and unknown take alike',
  async run(tools) {
    const directory = await mkdtemp(join(tmpdir(), 'bench-timing-'));
    const environment = tools.smoke ? cheapHash : {};
    const platform = await startLocal({ directory, port: await freePort(), environment });
    try {
      const rows: Row[] = [];
      for (const pair of await pairsOn(platform, triesOf(tools))) rows.push(await rowOf(platform, pair, tools));
      return rows;
    } finally {
      await platform.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
};
