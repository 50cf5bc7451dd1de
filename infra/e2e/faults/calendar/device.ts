import { createPlayer, type DeviceClient, type FileStore, type Manifest, type Play } from '@attribution/simulator';
import type { Chance } from '@attribution/testing';
import { createComparison, readScreen } from './reading.ts';
import { expectedAt, type KnownScreen, type LiveCampaign } from './rules.ts';

/** What was compared, and what is not as it should be. */
export interface Tally {
  plays: number;
  manifests: number;
  polls: number;
  /** Polls without an answer, or without a file. */
  unanswered: number;
  /** Instants at which a manifest was held against what is live. */
  instants: number;
  /** Plays that differ from the second reading. */
  readonly shown: Deviations;
  /** Instants of which a manifest says something else than the rules. */
  readonly told: Deviations;
}

/** How many there are, and the first of them. */
export interface Deviations {
  count: number;
  readonly examples: string[];
}

const most = 3;

export const newTally = (): Tally => ({
  ...{ plays: 0, manifests: 0, polls: 0, unanswered: 0, instants: 0 },
  shown: { count: 0, examples: [] },
  told: { count: 0, examples: [] },
});

function note(deviations: Deviations, text: () => string): void {
  deviations.count++;
  if (deviations.examples.length < most) deviations.examples.push(text());
}

/** A device whose clock is told to it. */
export interface VirtualDevice {
  /** When it asks for its manifest next, in milliseconds since the epoch. */
  next: number;
  /** Plays until now, and asks for its manifest. Resolves whether there was an answer; without one it keeps what it has. */
  poll(now: number, live: readonly LiveCampaign[]): Promise<boolean>;
  /** Plays until an instant, and compares what it showed with the second reading. */
  playUntil(to: number): void;
  /** Plays that only one of the logs has. */
  readonly rest: number;
  close(): void;
}

interface DeviceOptions {
  readonly client: DeviceClient;
  readonly screens: readonly KnownScreen[];
  readonly files: FileStore;
  /** When it is switched on. */
  readonly from: number;
  readonly chance: Chance;
  readonly tally: Tally;
}

/** How far a manifest reaches ahead at least. */
const aheadMs = 48 * 3_600_000;
const looksAhead = 8;

export function createVirtualDevice({ client, screens, files, from, chance, tally }: DeviceOptions): VirtualDevice {
  let manifest: Manifest | undefined;
  const players = screens.map(({ id }) => ({
    player: createPlayer(id, from),
    reading: readScreen(id, from),
    comparison: createComparison(),
  }));

  function playUntil(to: number): void {
    const inForce = manifest ?? nothing;
    for (const { player, reading, comparison } of players) {
      const shown = player.playUntil(to, inForce, files.has);
      const { count, differ } = comparison.compare({ shown, read: reading.until(to, inForce) });
      tally.plays += count;
      for (const one of differ) note(tally.shown, () => `shown ${textOf(one.shown)}, read ${textOf(one.read)}`);
    }
  }

  /** Holds the manifest against what is live now, at some instants ahead. Returns what differs. */
  function judge(now: number, live: readonly LiveCampaign[], inForce: Manifest): string[] {
    const wrong: string[] = [];
    for (let look = 0; look < looksAhead; look++) {
      const at = now + chance.int(0, aheadMs - 1);
      const said = saidAt(inForce, at);
      const expected = screens.map((screen) => expectedAt(live, screen, at));
      const wanted = {
        plays: Object.fromEntries(screens.map(({ id }, index) => [id, expected[index]?.plays.join() ?? ''])),
        heldOut: [...new Set(expected.flatMap(({ heldOut }) => heldOut))].toSorted(),
      };
      tally.instants++;
      const differs =
        said.heldOut.join() !== wanted.heldOut.join() || screens.some(({ id }) => said.plays[id] !== wanted.plays[id]);
      const where = `${inForce.device_id} ${screens[0]?.timezone} at ${iso(now)} of ${iso(at)}`;
      if (differs) wrong.push(`${where}: ${JSON.stringify({ said, wanted })}`);
    }
    return wrong;
  }

  /** Asks, as firmware does. Resolves whether the manifest in force is of this instant. */
  async function follow(now: number): Promise<boolean> {
    const received = await client.manifest(manifest?.version);
    for (const file of received?.files ?? []) await files.fetch(file);
    if (!received) return true;
    tally.manifests++;
    manifest = received;
    return isOf(received, now);
  }

  return {
    next: from,
    playUntil,
    async poll(now, live) {
      playUntil(now);
      tally.polls++;
      try {
        const isCurrent = await follow(now);
        if (!manifest || !isCurrent) return true;
        let wrong = judge(now, live, manifest);
        if (wrong.length > 0) {
          // "Unchanged" is said of the manifest that was given last, too, while Campaign cannot be asked. So it is asked again.
          const before = manifest;
          if (!(await follow(now)) || !isOf(await client.manifest(), now)) return true;
          if (manifest !== before) wrong = judge(now, live, manifest);
        }
        for (const text of wrong) note(tally.told, () => text);
        return true;
      } catch {
        tally.unanswered++;
        return false;
      }
    },
    get rest() {
      return players.reduce((sum, { comparison }) => sum + comparison.rest, 0);
    },
    close: () => client.close(),
  };
}

/** Whether a manifest was made at an instant: the platform's clock stands meanwhile. */
const isOf = (manifest: Manifest | undefined, instant: number): boolean =>
  Date.parse((manifest as { readonly generated_at?: string } | undefined)?.generated_at ?? '') === instant;

/** What a manifest says about an instant: the list of each screen, and which campaigns are held out. */
function saidAt({ screens, holdouts = [] }: Manifest, at: number) {
  const covers = (one: { readonly start_at: string | null; readonly end_at: string | null }) =>
    (one.start_at === null || Date.parse(one.start_at) <= at) && (one.end_at === null || at < Date.parse(one.end_at));
  const lists = screens.map(({ screen_id, slots }) => [screen_id, slots.find(covers)?.campaign_ad_ids.join() ?? '']);
  const heldOut = holdouts.filter(covers).map(({ campaign_id }) => campaign_id);
  return { plays: Object.fromEntries(lists) as Record<string, string>, heldOut: heldOut.toSorted() };
}

/** Before the first manifest. */
const nothing: Manifest = {
  ...{ schema_version: 1, device_id: '', version: 0, covers_from: '', covers_to: '' },
  ...{ files: [], items: [], screens: [], holdouts: [] },
};

const iso = (instant: number) => new Date(instant).toISOString();
const textOf = ({ campaign_ad_id, version, started_at, ended_at, completed }: Play) =>
  `${campaign_ad_id} v${version} ${iso(started_at)} to ${iso(ended_at)}${completed ? '' : ', cut'}`;
