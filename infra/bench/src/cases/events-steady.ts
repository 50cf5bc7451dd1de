import { type Case, compact, type Row } from '../case.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { startDevices } from '../events/devices.ts';
import { seedScreens } from '../events/plays.ts';
import { seedAccount } from '../events/seed.ts';
import { startEvents } from '../events/service.ts';
import { seedHours, tellSteadily, watchWorker } from '../events/steady.ts';

/** Seconds that figures may be behind (spec of `as_of`); megabytes that a worker's container has; growth of its memory. */
const bars = { behind: 10, resident: 512, growth: 1.2 };

const most = (figures: readonly number[]) => figures.reduce((highest, one) => Math.max(highest, one), 0);

/**
 * Devices tell once a minute of what they played and saw, two in each location, whose day has hours already that are recomputed
 * with it. The first third of the time, in which devices connect, is what the worker's memory afterwards is compared with.
 */
export const eventsSteady: Case = {
  name: 'events: 1,000 devices',
  run: (tools) =>
    withDatabase(tools, 'events', async (database): Promise<readonly Row[]> => {
      const size = tools.smoke
        ? { devices: 4, hours: 1, seconds: 1, interval: 0.3 }
        : { devices: 1_000, hours: 6, seconds: tools.minutes * 60, interval: 60 };
      const seeded = await seedAccount(database, size.devices / 2);
      const api = await startEvents(database);
      const worker = await startEvents(database, { RELAY: 'on' });
      tools.say(`  making ${size.devices} certificates`);
      const edge = await startDevices(api, { account: seeded.account, count: size.devices });
      try {
        const screens = await seedScreens(database, seeded, edge.devices);
        tools.say(`  filling: ${size.hours} hours of each`);
        await seedHours(database, seeded, size.hours);
        tools.say(`  ${size.seconds} seconds of batches`);
        const watched = await watchWorker(database, worker.pid, tools.say);
        const batches = await tellSteadily(screens, size);
        const seen = await watched.stop();
        const settled = seen.slice(Math.floor(seen.length / 3));
        const residents = (looks: typeof seen) => most(looks.map(({ resident }) => resident ?? 0));
        const [before, after] = [residents(seen.slice(0, seen.length - settled.length)), residents(settled)];
        const behind = most(settled.map((look) => look.behind));
        const unpublished = settled.at(-1)?.unpublished ?? 0;
        return [
          {
            what: `${compact(size.devices)} devices, a batch of plays and one of visits a minute each (${compact(batches)} in all): how long figures were behind at most`,
            ...{ ours: `${compact(behind)} s`, beside: '', bar: `≤ ${bars.behind} s`, holds: behind <= bars.behind },
          },
          { what: '… events that were not published at the end', ours: `${unpublished}`, beside: '', bar: '–' },
          {
            what: '… resident memory of the worker at its highest, beside that of the first third',
            ...{ ours: `${compact(after)} MB`, beside: `${compact(before)} MB` },
            bar: `≤ ${bars.resident} MB, ≤ ${bars.growth}`,
            holds: after <= bars.resident && after <= bars.growth * before,
          },
        ];
      } finally {
        await edge.stop();
        await worker.stop();
        await api.stop();
      }
    }),
};
