import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Case, compact, type Row, type Tools } from '../case.ts';
import { startStage, withIdentities } from '../devices/stage.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { startServer } from '../server.ts';

const barSeconds = 60;
/** When it is given up. */
const longestSeconds = 120;

/** Of a run of the simulated devices. */
interface Counts {
  readonly troubles: number;
  readonly refusals: number;
  readonly certificates: number;
  readonly bootstraps: number;
}

/** Resolves to the seconds until all devices were heard after `since`, or to undefined. */
async function untilAllHeard(client: pg.Client, count: number, since: Date): Promise<number | undefined> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  for (;;) {
    const { rows } = await client.query<{ heard: number }>(
      'SELECT count(*)::int AS heard FROM device_presence WHERE last_seen_at > $1',
      [since],
    );
    if (rows[0]?.heard === count) return seconds();
    if (seconds() > longestSeconds) return undefined;
    await sleep(200);
  }
}

const shapeOf = ({ smoke }: Tools) =>
  smoke ? { count: 4, heartbeatSeconds: 1, awayMs: 100 } : { count: 5_000, heartbeatSeconds: 20, awayMs: 25_000 };

/**
 * Away for longer than from one heartbeat to the next: each device has noticed, and waits. They are heard by Device, so that
 * they are back is read from its database.
 */
export const deviceRestart: Case = {
  name: 'device: a restart of the ingress',
  run: (tools) =>
    withDatabase(tools, 'device', async (database): Promise<readonly Row[]> => {
      const { count, heartbeatSeconds, awayMs } = shapeOf(tools);
      const stage = await startStage(database);
      const client = new pg.Client({ connectionString: database.url });
      await client.connect();
      try {
        tools.say(`  making ${count} certificates`);
        return await withIdentities(database, stage.authority, { count, heartbeatSeconds }, async (file) => {
          const environment = { TARGET: stage.ingress.url, CA: stage.authority.root, IDENTITIES: file };
          const program = new URL('../devices/simulated.server.ts', import.meta.url);
          const began = new Date();
          const spread = { SPREAD_MS: `${1_000 * heartbeatSeconds}` };
          const devices = await startServer(program, { ...environment, ...spread }, 'around');
          const countsNow = async () => (await (await fetch(devices.url)).json()) as Counts;
          try {
            if ((await untilAllHeard(client, count, began)) === undefined) throw new Error('Not all devices came');
            if (!tools.smoke) await sleep(2_000 * heartbeatSeconds); // Each has a connection or a session to resume.
            const before = await countsNow();
            tools.say(`  restarting: ${JSON.stringify(before)}`);
            const seconds = await untilAllHeard(client, count, await stage.restart(awayMs));
            const after = await countsNow();
            tools.say(`  back: ${JSON.stringify(after)}`);
            return rowsOf(seconds, before, after);
          } finally {
            await devices.stop();
          }
        });
      } finally {
        await client.end();
        await stage.stop();
      }
    }),
};

function rowsOf(seconds: number | undefined, before: Counts, after: Counts): Row[] {
  const bootstraps = after.bootstraps + after.certificates;
  return [
    {
      what: 'The ingress is away for 25 s; of 5,000 devices with a heartbeat each 20 s the last one is heard again after',
      ours: seconds === undefined ? `more than ${longestSeconds} s` : `${compact(seconds)} s`,
      ...{ beside: '', bar: `≤ ${barSeconds} s`, holds: seconds !== undefined && seconds <= barSeconds },
    },
    {
      what: '… bootstraps of those devices, and requests that were refused',
      ours: `${bootstraps} and ${after.refusals}`,
      ...{ beside: '', bar: '0 and 0', holds: bootstraps === 0 && after.refusals === 0 },
    },
    {
      what: '… attempts that found no ingress, or no answer',
      ...{ ours: compact(after.troubles - before.troubles), beside: '', bar: '–' },
    },
  ];
}
