import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@attribution/servers';
import { type Case, compact, compare, type Tools } from '../case.ts';
import { cheapHash, startLocal } from '../platform/local.ts';
import type { Logins } from '../platform/logins.server.ts';
import { newOwner } from '../platform/owner.ts';
import { startServer } from '../server.ts';
import { load } from '../wrk.ts';

/** Logins per second. With bcrypt at cost 12 their hashing takes about four cores. */
const rate = 20;
const connections = 4;
const bar = 3;
/** Logins start this long before reads are measured, until their queue has reached its final length. */
const leadMs = 5_000;

/** Reads while passwords are hashed in the same process: the platform as `npm start` runs it. */
export const platformLogins: Case = {
  name: 'platform: reads beside logins',
  async run(tools: Tools) {
    const directory = await mkdtemp(join(tmpdir(), 'bench-logins-'));
    const environment = tools.smoke ? cheapHash : {};
    const platform = await startLocal({ directory, port: await freePort(), environment });
    try {
      const owner = await newOwner(platform.url, platform.mailDirectory, 1);
      const headers = { authorization: `Bearer ${await owner.token()}` };
      const quiet = async () =>
        (await load({ url: `${platform.url}/v2/users/me`, seconds: tools.seconds, connections, headers })).p99;
      const people = await startServer(
        new URL('../platform/logins.server.ts', import.meta.url),
        { PLATFORM_URL: platform.url, EMAIL: owner.email, PASSWORD: owner.password },
        'around',
      );
      const seen: Logins[] = [];
      const post = (path: string) => fetch(`${people.url}${path}`, { method: 'POST' });
      async function beside(): Promise<number> {
        await post(`/start?rate=${rate}`);
        await sleep(tools.smoke ? 100 : leadMs);
        try {
          return await quiet();
        } finally {
          seen.push((await (await post('/stop')).json()) as Logins);
        }
      }
      try {
        const { a, b, ratio } = await compare(tools, beside, quiet);
        return [
          {
            what: `p99 of GET /v2/users/me, ${connections} connections, while ${rate} logins a second come (bcrypt, cost 12; one process)`,
            ours: `${compact(a.median)} ms`,
            beside: `${compact(b.median)} ms without logins`,
            ratio,
            bar: `≤ ${bar}`,
            holds: ratio.median <= bar,
          },
          loginsRow(seen),
        ];
      } finally {
        await people.stop();
      }
    } finally {
      await platform.stop();
      await rm(directory, { recursive: true, force: true });
    }
  },
};

function loginsRow(seen: readonly Logins[]) {
  const sum = (of: (logins: Logins) => number) => seen.reduce((total, logins) => total + of(logins), 0);
  const lost = sum((logins) => logins.lost);
  const slowest = Math.max(...seen.map((logins) => logins.slowest)) / 1000;
  return {
    what: `Those logins: granted, within ${slowest.toFixed(1)} s, beside told to come again (503)`,
    ours: `${sum((logins) => logins.granted)}, ${lost} lost`,
    beside: String(sum((logins) => logins.refused)),
    bar: '0 lost',
    holds: lost === 0,
  };
}
