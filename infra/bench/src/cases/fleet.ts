import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Case, type Compared, compact, comparedBy, inPairs, type Row, rateRow, type Tools } from '../case.ts';
import { loadWith, requireSameAnswer } from '../endpoints/requests.ts';
import type { FleetDescription } from '../fleet/description.ts';
import { memoryOf, memoryRows, watchMemory } from '../fleet/memory.ts';
import { kindsOf, mixOf, type Owner } from '../fleet/mix.ts';
import { namesOf, seedBoth, startBare, tokensOf } from '../fleet/stage.ts';
import { command } from '../messaging/commands.ts';
import { type BenchServer, startServer } from '../server.ts';
import type { LoadResult } from '../wrk.ts';

/** After the start, until the fleet is idle. */
const settleMs = 30_000;

/**
 * A product app's requests on the whole fleet with all cores: through the gateway to one api of each service, while workers
 * publish and handle the events. The peer is nginx with bare handlers, on databases with the same rows in the same Postgres.
 */
export const fleetMix: Case = {
  name: 'fleet: a mixed journey, and memory',
  async run(tools) {
    const { nginx, kafkaBrokers, redisUrl } = tools;
    if (nginx === undefined || kafkaBrokers === undefined || redisUrl === undefined) return [];
    const directory = await mkdtemp(join(tmpdir(), 'bench-fleet-'));
    try {
      const program = new URL('../fleet/fleet.server.ts', import.meta.url);
      const fleet = await startServer(
        program,
        { DIRECTORY: directory, TEST_KAFKA_BROKERS: kafkaBrokers.join(','), TEST_REDIS_URL: redisUrl },
        'anywhere',
      );
      return await measure(fleet, nginx, tools).finally(() => fleet.stop());
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

async function measure(fleet: BenchServer, nginx: string, tools: Tools): Promise<Row[]> {
  const description = await command<FleetDescription>(fleet.url, 'describe');
  const { gateway, databases, processes } = description;
  if (!tools.smoke) {
    tools.say(`  idle for ${settleMs / 1000} s`);
    await sleep(settleMs);
  }
  const idle = await memoryOf(processes);
  const owners = await seedBoth(databases, tools);
  const tokens = new Map(owners.map((owner) => [owner, tokensOf(description.tokenKeys)(owner)]));
  const credentials = (owner: Owner) => tokens.get(owner) ?? {};
  const bare = await startBare(nginx, databases);
  try {
    await requireSameAnswers(gateway, bare.url, owners[0], credentials);
    const watch = watchMemory(processes);
    const { seconds } = tools;
    const runs = await inPairs(
      tools,
      () => watch.during(() => loadWith(gateway, seconds, mixOf(owners, credentials))),
      () => loadWith(bare.url, seconds, mixOf(owners, namesOf)),
      ({ rate }) => rate,
    );
    return [...mixRows(comparedBy(runs, rateOf), comparedBy(runs, p99Of)), ...memoryRows(idle, watch.highest)];
  } finally {
    await bare.stop();
  }
}

const rateOf = ({ rate }: LoadResult) => rate;
const p99Of = ({ p99 }: LoadResult) => p99;

function mixRows(rates: Compared, p99s: Compared): Row[] {
  const ms = (figure: number) => `${compact(figure)} ms`;
  return [
    rateRow('A mixed journey on the fleet, beside nginx and bare handlers', rates),
    {
      what: '… its p99, with 32 requests under way',
      ours: ms(p99s.a.median),
      beside: ms(p99s.b.median),
      ratio: p99s.ratio,
      bar: '–',
    },
  ];
}

/** Throws unless both sides respond alike to each kind of request. */
async function requireSameAnswers(
  gateway: string,
  bare: string,
  owner: Owner | undefined,
  credentials: (owner: Owner) => Readonly<Record<string, string>>,
): Promise<void> {
  if (!owner) return;
  for (const request of kindsOf(owner)) {
    const [ours, other] = [credentials(owner), namesOf(owner)].map((headers) => ({ ...request, headers }));
    if (ours && other) await requireSameAnswer(gateway, bare, ours, other);
  }
}
