import * as contracts from '@attribution/contracts';
import { baseRate, exposedRate, itemsOf, makeWorld, plantedWindow, type Scenario } from '@attribution/testing';
import { openField } from '../contact/field.ts';
import { startArmable } from '../crash/kill/kill-at.ts';
import { type Chain, forEach, openChain, type Shop, timezone } from '../day/chain.ts';
import { untilCounted } from '../day/kept.ts';
import type { Experiment, Finding, Lab } from '../experiment.ts';

/** The chain's first campaign is held back in a fifth of the hours. */
const share = { controlHours: 20, exposedHoursPerControlHour: 4 };
const scenarios: readonly Scenario[] = [0, 30].flatMap((lift) =>
  [0, 0.1].map((correlation) => ({ lift, correlation, ...share })),
);
const batchSize = 500;

/** What the platform said of a world: whether it is what was planted, and where the interval lies. */
interface Told {
  readonly wrong: string | undefined;
  readonly said: boolean;
  readonly held: boolean;
}

/**
 * Devices tell the platform of campaigns whose effect is known, because it was planted. What it says of the hours, visitors and
 * conversions of each is what was planted, and its interval holds the effect as often as it says.
 */
export const plantedLift: Experiment = {
  name: 'planted lift',
  rounds: { short: 2, long: 25 },
  async run(lab) {
    const field = await openField();
    const { member, databases, mailDirectory } = field.till;
    try {
      await startArmable(member, undefined);
      const where = { url: member.url, mailDirectory, databases, devices: field.ingress };
      const worlds = scenarios.flatMap((scenario) => Array.from({ length: lab.rounds }, () => scenario));
      const chain = await openChain(where, { shops: worlds.length, devices: worlds.length });
      const planted = await forEach(worlds, (scenario, n) => plant(chain, chain.shops[n], scenario, lab));
      const behind = await untilCounted(databases);
      lab.say(`  ${worlds.length} worlds are told; ${behind} hours are behind`);
      const told = await forEach(planted, (one) => ask(chain, one));
      return scenarios.map((scenario) =>
        findingOf(
          scenario,
          told.filter((_, n) => worlds[n] === scenario),
        ),
      );
    } finally {
      await field.till.close();
    }
  },
};

type Planted = Awaited<ReturnType<typeof plant>>;

/** The device of a shop tells of a world. */
async function plant({ campaigns }: Chain, shop: Shop | undefined, scenario: Scenario, { chance }: Lab) {
  const [screen] = shop?.screens ?? [];
  const [campaign] = campaigns;
  const device = shop?.devices[0];
  if (!shop || !screen || !campaign || !device) throw new Error('A shop has a screen and a device');
  const world = makeWorld(chance, scenario);
  const stage = { location_id: shop.location, timezone, zone_id: screen.zone, screen_id: screen.id };
  const items = itemsOf(world, { ...stage, campaign_ad_id: campaign.ad, version: 1 }, Date.now(), chance);
  for (const kind of ['plays', 'visits'] as const)
    for (let from = 0; from < items[kind].length; from += batchSize) {
      const some = items[kind].slice(from, from + batchSize);
      const { accepted } = await device[kind](some);
      if (accepted !== some.length) throw new Error(`${accepted} of ${some.length} ${kind} were accepted`);
    }
  return { world, scenario, location: shop.location, campaign: campaign.id };
}

async function ask(chain: Chain, { world, scenario, location, campaign }: Planted): Promise<Told> {
  const client = await chain.owner();
  const query = { location_ids: location, window: plantedWindow };
  const { body } = await client.call(contracts.getCampaignLift, { params: { id: campaign }, query });
  const wrong = (['exposed', 'control'] as const).filter((arm) => {
    const { visitors, converted, clusters } = body[arm];
    const sum = (name: 'visitors' | 'converted') => world[arm].reduce((all, one) => all + one[name], 0);
    return visitors !== sum('visitors') || converted !== sum('converted') || clusters !== world[arm].length;
  });
  const { difference_low: low, difference_high: high } = body;
  const truth = 100 * (exposedRate(scenario) - baseRate);
  return {
    wrong: wrong.length > 0 ? `${wrong.join(' and ')} of ${location}` : undefined,
    said: low !== null,
    held: low !== null && high !== null && low <= truth && truth <= high,
  };
}

/** So many of so few may miss by chance: three standard errors below the least share that the contract allows. */
const leastHeld = (said: number) => Math.floor(0.925 * said - 3 * Math.sqrt(0.925 * 0.075 * said));

function findingOf({ lift, correlation }: Scenario, told: readonly Told[]): Finding {
  const wrong = told.flatMap((one) => one.wrong ?? []);
  const said = told.filter((one) => one.said).length;
  const held = told.filter((one) => one.held).length;
  return {
    what: `a lift of ${lift} % planted, correlation ${correlation} within hours, told by devices`,
    tried: told.length,
    found: `${wrong.length === 0 ? 'all is said as it was planted' : `wrong: ${wrong.join('; ')}`}; ${held} of ${said} intervals hold it`,
    bar: 'as planted; no fewer than chance allows at 92.5 %',
    holds: wrong.length === 0 && said > 0 && held >= leastHeld(said),
  };
}
