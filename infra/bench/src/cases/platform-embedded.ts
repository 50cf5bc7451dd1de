import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@attribution/servers';
import { type Case, compact, type Row, type Tools } from '../case.ts';
import { cheapHash, type LocalOptions, type LocalPlatform, startLocal } from '../platform/local.ts';
import { heapAfterCollection, postgresMemory, residentOf } from '../platform/memory.ts';
import { newOwner } from '../platform/owner.ts';
import { spreadOf } from '../statistics.ts';
import { load } from '../wrk.ts';

/** Seconds to healthy; megabytes; how much larger the heap may be after the load than before it. */
const bars = { start: 4, resident: 350, growth: 1.1 };
/** After the start, until the platform is idle. */
const settleMs = 15_000;
const connections = 4;
/** The heap is read through the inspector. */
const inspected = { nodeArguments: ['--inspect=127.0.0.1:0'] };

/** A Lua script for wrk: of ten requests eight read, one creates a group, of which an account may have many, and one changes one. */
const mixed = (group: string) => `
local n = 0
local reads = { '/v2/groups', '/v2/users/me', '/v2/campaigns?limit=20', '/v2/groups/${group}' }
function request()
  n = n + 1
  if n % 10 == 0 then
    return wrk.format('POST', '/v2/groups', nil, '{"name":"Group ' .. n .. '","description":"Shops in the city"}')
  elseif n % 10 == 5 then
    return wrk.format('PATCH', '/v2/groups/${group}', nil, '{"description":"Changed ' .. n .. '"}')
  end
  return wrk.format('GET', reads[n % 4 + 1])
end`;

/** The platform as `npm start` runs it: time to start, memory when idle, and growth of memory under load. */
export const platformEmbedded: Case = {
  name: 'platform: start and memory',
  async run(tools: Tools) {
    const directory = await mkdtemp(join(tmpdir(), 'bench-embedded-'));
    const options = { directory, port: await freePort() };
    try {
      if (tools.smoke) return await oneStart(options, tools);
      return [...(await starts(options, tools)), await growth(options, tools)];
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  },
};

/** For all rows the same start, because only the figures need several. */
async function oneStart(options: LocalOptions, tools: Tools): Promise<Row[]> {
  const platform = await startLocal({ ...options, ...inspected, environment: cheapHash });
  try {
    const start = startRow([platform.seconds], platform.seconds);
    return [start, ...(await idleRows(platform, options.directory)), await growthOf(platform, tools)];
  } finally {
    await platform.stop();
  }
}

/** Measures the time of starts after the first, and the memory of the last one when it is idle. */
async function starts(options: LocalOptions, { pairs, say }: Tools): Promise<Row[]> {
  const first = await startLocal(options);
  await first.stop();
  const times: number[] = [];
  let rows: Row[] = [];
  for (let start = 1; start <= pairs; start++) {
    const platform = await startLocal(options);
    times.push(platform.seconds);
    say(`  start ${start} of ${pairs}: healthy after ${platform.seconds.toFixed(2)} s`);
    if (start === pairs) {
      await sleep(settleMs);
      rows = await idleRows(platform, options.directory);
    }
    await platform.stop();
  }
  return [startRow(times, first.seconds), ...rows];
}

function startRow(times: readonly number[], first: number): Row {
  const { median, low, high } = spreadOf([...times]);
  return {
    what: '`npm start` to healthy, data there already',
    ours: `${median.toFixed(2)} s (${low.toFixed(2)}–${high.toFixed(2)})`,
    beside: `${first.toFixed(2)} s the first time`,
    bar: `≤ ${bars.start} s`,
    holds: high <= bars.start,
  };
}

async function idleRows({ pid }: LocalPlatform, directory: string): Promise<Row[]> {
  const [ours, postgres] = [await residentOf(pid), await postgresMemory(directory)];
  if (ours === undefined) return [];
  return [
    {
      what: 'Idle, resident memory of the Node process',
      ours: `${ours.toFixed(0)} MB`,
      beside: postgres === undefined ? '' : `${postgres.toFixed(0)} MB of its Postgres`,
      bar: `≤ ${bars.resident} MB`,
      holds: ours <= bars.resident,
    },
  ];
}

async function growth(options: LocalOptions, tools: Tools): Promise<Row> {
  const platform = await startLocal({ ...options, ...inspected });
  try {
    return await growthOf(platform, tools);
  } finally {
    await platform.stop();
  }
}

async function growthOf(platform: LocalPlatform, { minutes, say, smoke }: Tools): Promise<Row> {
  const owner = await newOwner(platform.url, platform.mailDirectory, smoke ? 1 : 20);
  const minute = smoke ? 0.1 : 60;
  const loaded = async (seconds: number) => {
    const headers = { authorization: `Bearer ${await owner.token()}`, 'content-type': 'application/json' };
    return load({ url: platform.url, seconds, connections, headers, script: mixed(owner.group) });
  };
  const measure = async () => {
    if (!smoke) await sleep(2_000); // Until events have been handled and connections closed.
    const heap = await heapAfterCollection(platform, smoke ? 1 : 3);
    const resident = await residentOf(platform.pid);
    return { heap, resident };
  };
  await loaded(minute);
  const before = await measure();
  say(`  after the first minute: heap ${before.heap.toFixed(1)} MB, resident ${before.resident?.toFixed(0)} MB`);
  let requests = 0;
  let after = before;
  for (let passed = 1; passed <= minutes; passed++) {
    requests += (await loaded(minute)).rate * minute;
    after = await measure();
    say(`  minute ${passed}: heap ${after.heap.toFixed(1)} MB, resident ${after.resident?.toFixed(0)} MB`);
  }
  const ratio = after.heap / before.heap;
  return {
    what: `Heap after ${minutes} min of load, garbage collected (${compact(requests)} requests)`,
    ours: `${after.heap.toFixed(1)} MB`,
    beside: `${before.heap.toFixed(1)} MB after the first minute`,
    ratio: { median: ratio, low: ratio, high: ratio },
    bar: `≤ ${bars.growth}`,
    holds: ratio <= bars.growth,
  };
}
