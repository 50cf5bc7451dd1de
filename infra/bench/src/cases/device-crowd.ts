import { type Case, compact, type Row } from '../case.ts';
import { startCrowd } from '../devices/crowd.ts';
import { startStage, withIdentities } from '../devices/stage.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { residentOf } from '../platform/memory.ts';

const bars = { megabytes: 1_500, p99: 3 };

/** The most memory that a process had while the work was done, in megabytes; undefined where the system does not say. */
async function whileWatched<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; most: number | undefined }> {
  let most: number | undefined;
  const watching = setInterval(async () => {
    const now = await residentOf(pid);
    if (now !== undefined) most = Math.max(most ?? 0, now);
  }, 500);
  try {
    return { result: await work(), most };
  } finally {
    clearInterval(watching);
  }
}

export const deviceCrowd: Case = {
  name: 'device: 10,000 connected',
  run: (tools) =>
    withDatabase(tools, 'device', async (database): Promise<readonly Row[]> => {
      const [many, few, seconds, interval] = tools.smoke ? [8, 2, 0.3, 0.3] : [10_000, 100, 150, 60];
      const stage = await startStage(database);
      const { ingress, authority } = stage;
      try {
        tools.say(`  making ${many} certificates`);
        return await withIdentities(database, authority, { count: many }, async (file) => {
          const crowd = await startCrowd(ingress.url, authority.root, file);
          try {
            tools.say(`  ${few} devices`);
            const alone = await crowd.paced(few, seconds, interval);
            tools.say(`  p99 ${compact(alone.p99)} ms of ${alone.answered}; ${many} devices`);
            const { result, most } = await whileWatched(ingress.pid, () => crowd.paced(many, seconds, interval));
            const ratio = result.p99 / alone.p99;
            const failed = result.failed + alone.failed;
            return [
              {
                what: '10,000 devices connected to one ingress, a heartbeat a minute each: p99, beside that of 100',
                ours: `${compact(result.p99)} ms (median ${compact(result.p50)})`,
                beside: `${compact(alone.p99)} ms (median ${compact(alone.p50)})`,
                ratio: { median: ratio, low: ratio, high: ratio },
                bar: `< ${bars.p99}`,
                holds: failed === 0 && ratio < bars.p99,
              },
              {
                what: `… of ${compact(result.answered + alone.answered + failed)} heartbeats failed`,
                ...{ ours: `${failed}`, beside: '', bar: '0', holds: failed === 0 },
              },
              ...(most === undefined
                ? []
                : [
                    {
                      what: '… resident memory of that ingress at its highest',
                      ...{ ours: `${compact(most)} MB`, beside: '', bar: `< ${compact(bars.megabytes)} MB` },
                      holds: most < bars.megabytes,
                    },
                  ]),
            ];
          } finally {
            await crowd.stop();
          }
        });
      } finally {
        await stage.stop();
      }
    }),
};
