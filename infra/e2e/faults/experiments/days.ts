import { join } from 'node:path';
import { openFileStore } from '@attribution/simulator';
import { chanceFrom } from '@attribution/testing';
import { createVirtualDevice, type Deviations, newTally, type Tally, type VirtualDevice } from '../calendar/device.ts';
import { openEstate } from '../calendar/estate.ts';
import { type Ground, openGround } from '../calendar/ground.ts';
import { tickMs } from '../calendar/reading.ts';
import { changes, type Span, spansOf } from '../calendar/spans.ts';
import { openStudio, type Studio } from '../calendar/studio.ts';
import { forEach } from '../day/chain.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';

const sizes = { short: { shops: 1, devices: 12 }, long: { shops: 4, devices: 1_000 } };
/** The real time that is played at most; each change of the clocks has its part. */
const playMs = 3_600_000;

/** The platform's clock moves on by this; no slot of a manifest begins then. */
const stepMs = 360_000;
const stepsOfDay = 86_400_000 / stepMs;
/** Steps from one question for the manifest to the next. */
const pollSteps = { least: 5, most: 55, offline: { share: 0.03, least: 500, most: 800 } };
const changesOfDay = 8;
const campaignsAtFirst = 6;

/**
 * Devices play virtual days at the change of the clocks in three zones, while campaigns begin, end, are held out, published,
 * revised and archived. What each screen showed is held against a second reading of the manifests that its device was given,
 * and these against what is live. Rounds are the days that are played from half a day before each change on, in an hour of real
 * time at most.
 */
export const days: Experiment = {
  name: 'days over a clock change',
  rounds: { short: 1, long: 200 }, // More than an hour has room for.
  async run(lab) {
    const ground = await openGround();
    try {
      return await playDays(ground, lab);
    } finally {
      await ground.close();
    }
  },
};

async function playDays(ground: Ground, lab: Lab): Promise<Finding[]> {
  const { chance, say } = lab;
  const size = lab.long ? sizes.long : sizes.short;
  const spans = spansOf(lab.rounds);
  const estate = await openEstate(ground, size, chance);
  const studio = await openStudio(ground, estate, chance);
  const files = await openFileStore(join(ground.directory, 'files'));
  say(`  ${size.devices} devices have their certificates, and their screens are known`);

  const tally = newTally();
  let played = 0;
  const from = firstStep(spans[0] as Span);
  ground.setClock(from);
  for (let n = 0; n < campaignsAtFirst; n++) await studio.change(from);
  const ofDevice = () => ({ files, from, chance: chanceFrom(chance.int(0, 2 ** 31 - 1)), tally });
  const devices = estate.devices.map((one) => createVirtualDevice({ ...one, ...ofDevice() }));
  try {
    const began = performance.now();
    for (const [index, span] of spans.entries()) {
      const deadline = began + ((index + 1) * playMs) / spans.length;
      played += await playSpan(span, deadline, { ground, studio, devices, tally, lab });
    }
  } finally {
    for (const device of devices) device.close();
  }
  return findingsOf(tally, { devices, studio, days: Math.round(played) });
}

const firstStep = ({ from }: Span) => Math.ceil(from / stepMs) * stepMs + tickMs;

interface Playing {
  readonly ground: Ground;
  readonly studio: Studio;
  readonly devices: readonly VirtualDevice[];
  readonly tally: Tally;
  readonly lab: Lab;
}

/** Plays until the span or the real time for it is over. Resolves with the days that were played. */
async function playSpan(
  span: Span,
  deadline: number,
  { ground, studio, devices, tally, lab }: Playing,
): Promise<number> {
  const { chance, say } = lab;
  const first = firstStep(span);
  // After a leap, not all devices wake up at once.
  for (const device of devices) device.next = Math.max(device.next, first + chance.int(0, pollSteps.most) * stepMs);
  let began = performance.now();
  let step = 0;
  let now = first;
  for (; now < span.to && performance.now() < deadline; now += stepMs, step++) {
    ground.setClock(now);
    if (chance.share() < changesOfDay / stepsOfDay) await studio.change(now);
    const due = devices.filter(({ next }) => next <= now);
    for (const device of due) {
      const { least, most } = chance.share() < pollSteps.offline.share ? pollSteps.offline : pollSteps;
      device.next = now + chance.int(least, most) * stepMs;
    }
    await forEach(due, async (device) => {
      if (!(await device.poll(now, studio.live))) device.next = now + stepMs;
    });
    if (step % stepsOfDay !== stepsOfDay - 1) continue;
    const { polls, manifests, plays } = tally;
    const wrong = tally.shown.count + tally.told.count;
    say(
      `  until ${new Date(now).toISOString()}: ${polls} polls (${tally.unanswered} without an answer), ${manifests} manifests, ${plays} plays, ${wrong} deviations; the day took ${((performance.now() - began) / 1000).toFixed(0)} s`,
    );
    began = performance.now();
  }
  for (const device of devices) device.playUntil(now);
  return step / stepsOfDay;
}

function findingsOf(
  tally: Tally,
  { devices, studio, days: played }: { devices: readonly VirtualDevice[]; studio: Studio; days: number },
): Finding[] {
  const { plays, manifests, polls, unanswered, instants, shown, told } = tally;
  const rest = devices.reduce((sum, device) => sum + device.rest, 0);
  const examples = ({ examples: of }: Deviations) => of.map((one) => `; ${one}`).join('');
  const what = `${devices.length} devices, ${played} days at the change of the clocks in ${changes.map(({ timezone }) => timezone).join(', ')}`;
  return [
    {
      what: `${what}: what each screen showed`,
      tried: plays,
      found: `${shown.count + rest} plays differ from a second reading of the ${manifests} manifests that were given at ${polls} polls, ${unanswered} of which had no answer${examples(shown)}`,
      bar: 'no play differs',
      holds: plays > 0 && shown.count + rest === 0,
    },
    {
      what: `The manifests of these devices, while campaigns were changed ${studio.changes} times`,
      tried: instants,
      found: `${told.count} say of an instant something else than the rules do${examples(told)}`,
      bar: 'none does',
      holds: instants > 0 && told.count === 0,
    },
  ];
}
