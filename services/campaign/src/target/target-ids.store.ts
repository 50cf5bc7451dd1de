import { type Principal, visibleGroupIds } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { sql } from 'kysely';
import { db } from '../store.ts';
import type { CampaignTarget } from './target.ts';

interface Missing {
  readonly kind: 'group' | 'location';
  readonly id: string;
}

/** Throws `unprocessable`, naming it, when a group or location of the target does not exist for the caller. */
export async function requireTargetIds(
  tx: Sql,
  caller: Principal,
  { include, exclude }: CampaignTarget,
): Promise<void> {
  const groups = [...include.group_ids, ...exclude.group_ids];
  const locations = [...include.location_ids, ...exclude.location_ids];
  if (groups.length + locations.length === 0) return;
  const visible = visibleGroupIds(caller);
  const inSight = (column: string) =>
    visible === null ? sql`TRUE` : sql`${sql.ref(column)} IN (SELECT unnest(${visible}::text[]))`;
  const { rows } = await sql<Missing>`
    SELECT 'group' AS kind, given.id FROM unnest(${groups}::text[]) AS given(id) WHERE NOT EXISTS (
      SELECT FROM known_groups AS known
      WHERE known.id = given.id AND known.account_id = ${caller.accountId} AND ${inSight('known.id')})
    UNION ALL
    SELECT 'location', given.id FROM unnest(${locations}::text[]) AS given(id) WHERE NOT EXISTS (
      SELECT FROM known_locations AS known
      WHERE known.id = given.id AND known.account_id = ${caller.accountId} AND ${inSight('known.group_id')})
    LIMIT 1`.execute(db(tx));
  const [missing] = rows;
  if (missing) throw new Problem('unprocessable', `body: there is no ${missing.kind} ${missing.id} in this account.`);
}
