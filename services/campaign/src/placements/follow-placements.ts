import { placementChanged } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type NewEvent, newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import type { Job } from '@attribution/service';
import { takeChangedScreens } from '../estate/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { reachOf } from '../target/index.ts';
import { findConcerned, type LiveCampaign, notePlaced } from './follow.store.ts';
import { placingInstant } from './instant.ts';
import { lockPlacing } from './lock.store.ts';
import { place } from './place.store.ts';

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Screens whose changes one transaction follows, at most. */
const screensAtOnce = 1_000;

/** The job by which the placements of live versions follow the estate, on the screens that have changed alone. */
export function followPlacements({ database, outbox, clock }: Dependencies): Job {
  /** Returns the event of what changed, if anything did. */
  async function follow(tx: Sql, accountId: string, campaign: LiveCampaign, screens: readonly string[]) {
    const { campaign_id, version, target, ads } = campaign;
    const at = placingInstant(clock.now(), campaign.placed_at);
    const placing = { accountId, campaignId: campaign_id, version, at, by: 'estate' } as const;
    const { opened, closed } = await place(tx, placing, reachOf(tx, accountId, target, ads, screens), {
      among: screens,
    });
    if (opened + closed === 0) return undefined;
    await notePlaced(tx, campaign_id, at);
    const data = { campaign_id, version, opened, closed, at: at.toISOString() };
    return newEvent(placementChanged, data, { accountId, occurredAt: at });
  }

  /** Whether there may be more to follow. */
  async function followSome(tx: Sql): Promise<boolean> {
    const changed = await takeChangedScreens(tx, screensAtOnce);
    const events: NewEvent[] = [];
    for (const [accountId, rows] of Map.groupBy(changed, ({ account_id }) => account_id)) {
      await lockPlacing(tx, accountId, 'alone');
      const screens = rows.map(({ screen_id }) => screen_id);
      for (const campaign of await findConcerned(tx, accountId, screens)) {
        const event = await follow(tx, accountId, campaign, screens);
        if (event) events.push(event);
      }
    }
    await outbox.append(tx, ...events);
    return changed.length > 0;
  }

  return {
    name: 'follow-placements',
    every: 1_000,
    async run(stopping) {
      while (!stopping.aborted && (await database.sqlTransaction(followSome)));
    },
  };
}
