import { type Case, compare, type Row, rateRow } from '../case.ts';
import { startCrowd } from '../devices/crowd.ts';
import { startStage, withIdentities } from '../devices/stage.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { startServer } from '../server.ts';

const bar = 0.5;
/** So many that a device's heartbeats are further apart than those of which the platform leaves out to write the time. */
const manyDevices = 512;

/**
 * Ingress and Device are two programs, and the bare handler is one. Both sides have the same core for all of their programs,
 * and the other one for Postgres and the devices: so it is processor time for a heartbeat that is compared.
 */
export const deviceHeartbeats: Case = {
  name: 'device: heartbeats',
  run: (tools) =>
    withDatabase(tools, 'device', async (database): Promise<readonly Row[]> => {
      const stage = await startStage(database);
      const { cert, key } = stage.authority.issueServer();
      const bare = await startServer(new URL('../devices/bare.server.ts', import.meta.url), {
        ...{ DATABASE_URL: database.url, TLS_CERTIFICATE: cert, TLS_KEY: key, CA: stage.authority.root },
      });
      const count = tools.smoke ? 4 : manyDevices;
      try {
        return await withIdentities(database, stage.authority, { count }, async (file) => {
          const [ours, beside] = await Promise.all(
            [stage.ingress, bare].map(({ url }) => startCrowd(url, stage.authority.root, file)),
          );
          try {
            const rateOf = (crowd: typeof ours) => async () => (await crowd?.full(count, tools.seconds))?.rate ?? 0;
            const compared = await compare(tools, rateOf(ours), rateOf(beside));
            const what = `Heartbeats through the ingress, ${manyDevices} devices on kept connections, beside node:https with client certificates and one prepared read (the programs of a side on one core)`;
            return [rateRow(what, compared, bar)];
          } finally {
            await Promise.all([ours?.stop(), beside?.stop()]);
          }
        });
      } finally {
        await Promise.all([stage.stop(), bare.stop()]);
      }
    }),
};
