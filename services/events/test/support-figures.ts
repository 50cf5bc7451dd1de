import { locationCreated, sendVisits, summarizeVisits } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { batch, newVisitor, newWorld, type World } from './support.ts';
import { keep } from './support-stored.ts';

const dayMs = 86_400_000;

/** A visit, or a play, at instants in milliseconds since the epoch. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}
export interface PlantedVisit extends Stretch {
  readonly event_id: string;
  readonly location_id: string;
  readonly visitor_key: string;
  readonly zones: readonly (Stretch & { readonly zone_id: string })[];
}
export interface PlantedPlay extends Stretch {
  readonly event_id: string;
  readonly location_id: string;
  readonly screen_id: string;
  readonly campaign_id: string;
  readonly holdout: boolean;
}

export const visitAt = (location_id: string, start: number, changes: Partial<PlantedVisit> = {}): PlantedVisit => ({
  ...{ event_id: newUuid(), location_id, visitor_key: newVisitor(), start, end: start + 60_000, zones: [] },
  ...changes,
});

/** Keeps what is planted, see `keep`. */
export const plant = (
  service: TestService,
  { account }: Pick<World, 'account'>,
  { visits = [], plays = [] }: { readonly visits?: readonly PlantedVisit[]; readonly plays?: readonly PlantedPlay[] },
) =>
  keep(service, account, {
    visits,
    plays: plays.map((play) => ({ ...play, zone_id: null, version: 1, completed: true })),
  });

/** One more location of an account, in a group of its own. */
export async function tellLocation(service: TestService, { account }: Pick<World, 'account'>, timezone: string) {
  const location = { ...newWorld(timezone).location, id: newId('location'), group_id: newId('group') };
  await service.deliver(locationCreated, { account_id: account, aggregate_version: 1, location }, account);
  return location;
}

export const narrowedTo = (service: TestService, { as }: Pick<World, 'as'>, group: string) =>
  as(service, { role: 'member', group_scope: 'selected', groups: { [group]: 'm' } });

export const daysLater = (date: string, days: number) =>
  new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);

/** Resolves when everything that was done before is in the figures of the account, after the time that an event may take. */
export async function upToDate(service: TestService, world: Pick<World, 'as'>): Promise<void> {
  const before = service.clock.now().toISOString();
  service.clock.advance({ seconds: 4 });
  await eventually(async () => {
    const { body } = await world.as(service).call(summarizeVisits);
    if (body.as_of <= before) throw new Error('Figures are behind');
  });
}

/** Sends visits of the past. Their clock is right, so that their times stay. */
export async function sendPast(service: TestService, world: World, visits: readonly object[]): Promise<void> {
  for (let from = 0; from < visits.length; from += 500) {
    const some = visits.slice(from, from + 500);
    const { body } = await world.player(service).call(sendVisits, batch(service, some, { clock_synced: true }));
    if (body.accepted !== some.length)
      throw new Error(`${body.accepted} visits were accepted: ${JSON.stringify(body)}`);
  }
}

/** Holds every transaction that tells an event of the type back, right where it tells it, until it is let go. */
export async function holdEvents(service: TestService, type: string) {
  const client = await service.db.connect();
  await client.query('SELECT pg_advisory_lock(77)');
  await client.query(`
    CREATE OR REPLACE FUNCTION hold_event() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_advisory_xact_lock_shared(77); RETURN NEW; END $$;
    CREATE TRIGGER hold_event BEFORE INSERT ON outbox FOR EACH ROW
      WHEN (NEW.type = '${type}') EXECUTE FUNCTION hold_event()`);
  return {
    /** Resolves when so many transactions wait. */
    wait: (count: number) =>
      eventually(async () => {
        const held = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND NOT granted";
        if ((await client.query(held)).rowCount !== count) throw new Error('They do not wait yet');
      }),
    async letGo() {
      await client.query('SELECT pg_advisory_unlock(77)');
      await client.query('DROP TRIGGER hold_event ON outbox');
      client.release();
    },
  };
}
