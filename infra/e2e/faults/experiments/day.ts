import { setTimeout as sleep } from 'node:timers/promises';
import { openChain } from '../day/chain.ts';
import { longFaults, shortFaults } from '../day/faults.ts';
import { compareFigures } from '../day/figures.ts';
import { drawDay } from '../day/items.ts';
import { countEvents, countRows, untilRecounted } from '../day/kept.ts';
import { nothingSent, sendAll } from '../day/sending.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';
import { openSeparate } from '../separate/world.ts';

const sizes = {
  long: { shops: 40, devices: 1_000, replicas: 2, busyness: { plays: 96, visits: 20 } },
  short: { shops: 4, devices: 100, replicas: 1, busyness: { plays: 60, visits: 20 } },
};

/**
 * Devices tell the fleet of a day, while its processes and servers are killed and restarted one after the other. Whatever is
 * not answered is sent again, and some of what was. In the end each item counts once, in every figure.
 */
export const day: Experiment = {
  name: 'day of devices',
  rounds: { short: 1, long: 2 },
  needs: ['kafka', 'redis'],
  async run(lab) {
    const { replicas } = lab.long ? sizes.long : sizes.short;
    const world = await openSeparate({ say: lab.say, note: lab.note, replicas });
    try {
      return [await shake(world, lab)];
    } finally {
      await world.close();
    }
  },
};

async function shake(world: Awaited<ReturnType<typeof openSeparate>>, lab: Lab): Promise<Finding> {
  const { say, chance } = lab;
  const size = lab.long ? sizes.long : sizes.short;
  const chain = await openChain(world, size);
  say(`  ${size.devices} devices in ${size.shops} locations have their certificates`);
  const told = drawDay(chain, size.busyness, chance);
  const faults = Array.from({ length: lab.rounds }, () => (lab.long ? longFaults : shortFaults)).flat();
  const share = Math.ceil(told.batches.length / faults.length);
  const sent = nothingSent();
  for (const [number, fault] of faults.entries()) {
    const began = performance.now();
    const breaking = async () => {
      await sleep(chance.int(100, 600));
      await fault.run(world);
    };
    await Promise.all([sendAll(told.batches.slice(number * share, (number + 1) * share), sent, chance), breaking()]);
    say(`  ${fault.name}: ${share} batches in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  }
  const began = performance.now();
  const { waiting, deadLetters, behind } = await untilRecounted(world);
  const caughtUp = (performance.now() - began) / 1000;
  const [rows, events] = [await countRows(world.databases, sent), await countEvents(world, sent)];
  const { figures, wrong } = await compareFigures(chain, told);
  for (const line of [...sent.wrong, ...wrong].slice(0, 20)) say(`  ${line}`);
  for (const { devices } of chain.shops) for (const device of devices) device.close();

  const items = told.visits.length + told.plays.length;
  const acknowledged = sent.acknowledged.visits.size + sent.acknowledged.plays.size;
  const failed = [...sent.failures].map(([what, count]) => `${count} × ${what}`).join(', ');
  return {
    what: `A day of ${size.devices} devices under ${faults.length} faults: kill -9 of processes, Kafka, Redis and Postgres restarted`,
    tried: items,
    found: [
      `lost ${rows.lost}, doubled ${rows.doubled} of ${acknowledged} acknowledged items; on the topics, in ${events.events} events, lost ${events.lost}, doubled ${events.doubled}`,
      `${sent.batches} batches, ${sent.repeated} of them sent again; not answered: ${failed || 'none'}`,
      `${wrong.length} of ${figures} figures differ from the recount`,
      ...(sent.wrong.length > 0 ? [`${sent.wrong.length} answers against the contract`] : []),
      ...(waiting + deadLetters + behind > 0
        ? [`${waiting} events still wait, ${deadLetters} dead letters, ${behind} hours behind`]
        : []),
      `figures up to date ${caughtUp.toFixed(1)} s after the last batch`,
    ].join('; '),
    bar: 'all acknowledged; nothing lost or doubled; all figures equal to the recount',
    holds:
      acknowledged === items &&
      rows.lost +
        rows.doubled +
        events.lost +
        events.doubled +
        sent.wrong.length +
        wrong.length +
        waiting +
        deadLetters +
        behind ===
        0 &&
      figures > 0,
  };
}
