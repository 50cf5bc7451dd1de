import { type Principal, visibleGroupIds } from '@attribution/auth';
import type { Location } from '@attribution/contracts';
import { anyOf, type Sql } from '@attribution/database';
import type { z } from 'zod';
import { db } from '../store.ts';

type Wire = z.output<typeof Location>;

/** What is known of a location from Organization's events. */
export type KnownLocation = Pick<Wire, 'id' | 'timezone' | 'latitude' | 'longitude' | 'venue_type' | 'opening_hours'>;

/** A location that the caller can see: of its account and, if it is narrowed, in one of its groups. */
export async function findLocation(tx: Sql, caller: Principal, id: string): Promise<KnownLocation | undefined> {
  const groups = visibleGroupIds(caller);
  const inAccount = db(tx)
    .selectFrom('known_locations')
    .select(['id', 'timezone', 'latitude', 'longitude', 'venue_type', 'opening_hours'])
    .where('id', '=', id)
    .where('account_id', '=', caller.accountId);
  const visible = groups ? inAccount.where('group_id', '=', anyOf(groups)) : inAccount;
  return (await visible.executeTakeFirst()) as KnownLocation | undefined;
}
