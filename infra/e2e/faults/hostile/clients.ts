import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measured, startLoad } from '../edge/load.ts';
import type { Owner } from '../outages/owner.ts';

/** A private address is as good as any: the gateway trusts the local proxy that names it. */
export const randomIp = () => ['10', ...randomBytes(3)].join('.');

/** What the honest ones saw during a period. */
export interface Honest {
  readonly reads: Measured;
  readonly logins: Measured;
  /** Milliseconds that each small import took, with the export after it. */
  readonly files: readonly number[];
  /** What was wrong with the others. */
  readonly faults: readonly string[];
}

/** Whom the honest ones are. The first reads, the second imports and exports a small file, and all of them log in. */
export type People = readonly [Person, Person, ...Person[]];
export type Person = Pick<Owner, 'email' | 'password' | 'token' | 'ip'>;

/** In requests per second. */
export interface Rates {
  readonly reads: number;
  readonly logins: number;
}

export interface HonestClients {
  /** Measures what was begun since the start or the last call, and waits until it is over. */
  take(): Promise<Honest>;
  /** The reader and the one with the files go on with other tokens: each is valid for 15 minutes. */
  replace(reader: Person, filer: Person): void;
}

/** People who do their work meanwhile, each at an address of its own. */
export function startHonest(url: string, people: People, rates: Rates): HonestClients {
  let [reader, filer] = people;
  const reads = startLoad({
    rate: rates.reads,
    request: () => ({ url: `${url}/v2/groups?limit=20`, headers: headersOf(reader) }),
  });
  const logins = startLoad({
    rate: rates.logins,
    request: (n) => {
      const { email, password, ip } = people[n % people.length] as Person;
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': ip };
      return { url: `${url}/v2/auth/login`, method: 'POST', headers, body: JSON.stringify({ email, password }) };
    },
  });
  const files = startFiles(url, () => filer);
  return {
    async take() {
      const [read, loggedIn, filed] = await Promise.all([reads.take(), logins.take(), files.take()]);
      return { reads: read, logins: loggedIn, ...filed };
    },
    replace(...those) {
      [reader, filer] = those;
    },
  };
}

const headersOf = ({ token, ip }: Person) => ({ authorization: `Bearer ${token}`, 'x-forwarded-for': ip });

const rows = Array.from({ length: 50 }, (_, n) => `location,L${n},G,Shop ${n},Europe/Zurich`);
const smallFile = ['kind,external_id,parent,name,timezone', 'group,G,,All,', ...rows].join('\n');
const fileTimeoutMs = 120_000;
const pauseMs = 500;

/** One after the other, so that nothing but others can be in the way. */
function startFiles(url: string, owner: () => Person) {
  let took: number[] = [];
  let faults: string[] = [];
  let running: Promise<void> = Promise.resolve();
  const one = async () => {
    const began = performance.now();
    try {
      await importAndExport(url, headersOf(owner()));
      took.push(performance.now() - began);
    } catch (error) {
      faults.push((error as Error).message);
    }
  };
  const loop = async () => {
    for (;;) {
      running = one();
      await running;
      await sleep(pauseMs);
    }
  };
  void loop();
  return {
    /** Waits for the one that runs: it began before. */
    async take() {
      await running;
      const taken = { files: took, faults };
      [took, faults] = [[], []];
      return taken;
    },
  };
}

async function importAndExport(url: string, headers: Record<string, string>): Promise<void> {
  const signal = AbortSignal.timeout(fileTimeoutMs);
  const ask = async (path: string, more: RequestInit = {}) => {
    const answer = await fetch(`${url}${path}`, { ...more, headers: { ...headers, ...more.headers }, signal });
    if (!answer.ok) throw new Error(`${path.split('?')[0]} ${answer.status}`);
    return answer;
  };
  const sent = await ask('/v2/estate/imports', {
    method: 'POST',
    headers: { 'content-type': 'text/csv' },
    body: smallFile,
  });
  const { id } = (await sent.json()) as { id: string };
  for (;;) {
    const job = (await (await ask(`/v2/estate/imports/${id}`)).json()) as {
      status: string;
      finished_at: string | null;
    };
    if (job.finished_at !== null && job.status !== 'succeeded') throw new Error(`an import ${job.status}`);
    if (job.finished_at !== null) break;
    await sleep(50);
  }
  await (await ask('/v2/estate/export')).text();
}
