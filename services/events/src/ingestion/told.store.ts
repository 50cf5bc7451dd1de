import type { EventsDatabase } from '../store.ts';

// Each id is looked up by itself, in statements that are not prepared. With all of them in one condition Postgres took an
// index of the account, and read all of its rows, as long as it knew little of a new partition; and it keeps the plan of a
// prepared statement.

/** Ids of items of an account. */
export interface OwnIds {
  readonly accountId: string;
  readonly ids: readonly string[];
}

type Connection = Pick<EventsDatabase['pool'], 'query'>;

export interface VisitTold {
  readonly event_id: string;
  readonly visitor_key: string;
  readonly entered_at: Date;
  readonly left_at: Date;
  /** In milliseconds since the epoch. */
  readonly zones: readonly { readonly zone_id: string; readonly start: number; readonly end: number }[];
}

export interface PlayTold {
  readonly event_id: string;
  readonly screen_id: string;
  readonly zone_id: string | null;
  readonly campaign_id: string;
  readonly campaign_ad_id: string;
  readonly version: number;
  readonly started_at: Date;
  readonly ended_at: Date;
  readonly completed: boolean;
  readonly holdout: boolean;
}

/** Items by their ids. */
async function findByIds<Row extends object>(
  connection: Connection,
  text: string,
  all: readonly OwnIds[],
): Promise<Row[]> {
  const found: Row[] = [];
  for (const { accountId, ids } of all) found.push(...(await connection.query<Row>(text, [accountId, ids])).rows);
  return found;
}

const visits = `
  SELECT item.* FROM unnest($2::uuid[]) AS id, LATERAL (
    SELECT event_id, visitor_key, entered_at, left_at, zones FROM visits
    WHERE account_id = $1 AND event_id = id OFFSET 0) AS item`;
const plays = `
  SELECT item.* FROM unnest($2::uuid[]) AS id, LATERAL (
    SELECT event_id, screen_id, zone_id, campaign_id, campaign_ad_id, version, started_at, ended_at, completed, holdout
    FROM plays WHERE account_id = $1 AND event_id = id OFFSET 0) AS item`;

export const findVisits = (connection: Connection, all: readonly OwnIds[]): Promise<VisitTold[]> =>
  findByIds(connection, visits, all);

export const findPlays = (connection: Connection, all: readonly OwnIds[]): Promise<PlayTold[]> =>
  findByIds(connection, plays, all);
