import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Books, moneyBooks, tokenBooks } from '../billing/books.ts';
import { type Case, compact, compare, type Row, rateRow, type Tools } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { residentOf } from '../platform/memory.ts';
import { type BenchServer, startServer } from '../server.ts';

/** The check may take twice as long as the sums, and grow by so many megabytes. */
const bars = { sums: 1 / 2, memory: 32 };
const [many, few] = [1_000_000, 10_000];
/** A small heap, so that garbage is collected: otherwise it hides what a check needs. */
const smallHeap = ['--max-old-space-size=96', '--max-semi-space-size=2'];

const start = (service: 'account' | 'billing', database: BenchDatabase, payments: string) =>
  startServer(
    new URL('../billing/check.server.ts', import.meta.url),
    { SERVICE: service, DATABASE_URL: database.url, SIMULATED_PAYMENTS_FILE: payments },
    'measured',
    smallHeap,
  );

/** Checks the ledger once. */
async function check({ url }: BenchServer): Promise<void> {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200 || (JSON.parse(text) as { faults: string[] }).faults.length > 0)
    throw new Error(text.slice(0, 500));
}

/** The most memory of a process while the work goes on, in megabytes. */
async function most({ pid }: BenchServer, work: Promise<void>): Promise<number> {
  let peak = 0;
  let done = false;
  const ended = work.finally(() => {
    done = true;
  });
  while (!done) {
    peak = Math.max(peak, (await residentOf(pid)) ?? 0);
    await Promise.race([sleep(20), ended]);
  }
  await ended;
  return peak;
}

async function bare(client: pg.Client, { sums }: Books): Promise<void> {
  for (const text of sums) await client.query(text);
}

/** Repetitions a second of something that takes about a second. */
async function rateOf(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return 1_000 / (performance.now() - started);
}

async function measure(
  tools: Tools,
  service: 'account' | 'billing',
  books: Books,
  what: string,
): Promise<readonly Row[]> {
  return withDatabase(tools, service, (small) =>
    withDatabase(tools, service, async (large) => {
      const entries = tools.smoke ? few : many;
      tools.say(`  filling: ${compact(entries)} entries`);
      await Promise.all([books.fill(small, few), books.fill(large, entries)]);
      const directory = await mkdtemp(join(tmpdir(), 'bench-ledgers-'));
      const payments = join(directory, 'payments.sqlite');
      await writeFile(payments, ''); // The provider knows of none of them.
      const [lesser, ours] = await Promise.all([start(service, small, payments), start(service, large, payments)]);
      const client = new pg.Client({ connectionString: large.url });
      try {
        await client.connect();
        const compared = await compare(
          tools,
          () => rateOf(() => check(ours)),
          () => rateOf(() => bare(client, books)),
        );
        const least = await most(lesser, check(lesser));
        const peak = await most(ours, check(ours));
        return [
          rateRow(
            `Check of 1,000,000 ${what} of 1,000 accounts beside the bare sums of each table`,
            compared,
            bars.sums,
          ),
          {
            what: `… memory while it runs, beside that for 10,000 ${what}`,
            ours: `${compact(peak)} MB`,
            beside: `${compact(least)} MB`,
            bar: `≤ ${bars.memory} MB more`,
            holds: peak - least <= bars.memory,
          },
        ];
      } finally {
        await Promise.all([client.end(), ours.stop(), lesser.stop()]);
        await rm(directory, { recursive: true, force: true });
      }
    }),
  );
}

export const ledgerCheck: Case = {
  name: 'ledgers: nightly check',
  run: async (tools) => [
    ...(await measure(tools, 'account', tokenBooks, 'token entries')),
    ...(await measure(tools, 'billing', moneyBooks, 'money entries')),
  ],
};
