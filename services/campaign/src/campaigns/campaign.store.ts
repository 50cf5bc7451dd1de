import { type Principal, visibleGroupIds } from '@attribution/auth';
import type { Sql } from '@attribution/database';
import { Prisma } from '../generated/prisma/client.ts';
import type { Tx } from '../store.ts';
import {
  type CampaignBrief,
  type CampaignFields,
  type CampaignRow,
  type CampaignStatus,
  type CampaignTarget,
  type ListedCampaign,
  summarizeAds,
} from './campaign.ts';

type Reader = Pick<Tx, 'campaign'>;

/** A narrowed caller sees the campaigns of its groups and those it created itself (decision 30). */
function visibleTo(caller: Principal): Prisma.CampaignWhereInput {
  const groups = visibleGroupIds(caller);
  return {
    account_id: caller.accountId,
    ...(groups && { OR: [{ group_id: { in: groups } }, { created_by: caller.id }] }),
  };
}

/** Newest first; with what is counted of their ads in the same statement. */
export async function findCampaigns(
  db: Sql,
  caller: Principal,
  page: { limit: number; before: string | undefined; statuses: readonly CampaignStatus[] | undefined },
): Promise<ListedCampaign[]> {
  const groups = visibleGroupIds(caller);
  const conditions = [
    Prisma.sql`account_id = ${caller.accountId}`,
    ...(groups ? [Prisma.sql`(group_id = ANY(${groups}) OR created_by = ${caller.id})`] : []),
    ...(page.before === undefined ? [] : [Prisma.sql`id < ${page.before}`]),
    ...(page.statuses === undefined ? [] : [Prisma.sql`status = ANY(${page.statuses}::"CampaignStatus"[])`]),
  ];
  return db.$queryRaw<ListedCampaign[]>(Prisma.sql`
    SELECT id, account_id, group_id, name, description, brief -> 'product' AS product,
      to_char(start_date, 'YYYY-MM-DD') AS start_date, to_char(end_date, 'YYYY-MM-DD') AS end_date, priority, metadata,
      status, current_version, created_at, updated_at, screen_count, estimated_locations, media_asset_id, poster_url,
      scored_signature, ads.*
    FROM campaigns, LATERAL (
      SELECT count(*)::int AS total_ad_count, count(score)::int AS scored_ad_count,
        avg(score ORDER BY position, id) AS campaign_score
      FROM campaign_ads WHERE campaign_id = campaigns.id
    ) AS ads
    WHERE ${Prisma.join(conditions, ' AND ')}
    ORDER BY campaigns.id DESC LIMIT ${page.limit}`);
}

const withAds = { ads: { orderBy: [{ position: 'asc' }, { id: 'asc' }] } } satisfies Prisma.CampaignInclude;

export type CampaignWithAds = ReturnType<typeof readRow>;

const dayOf = (date: Date | null) => date?.toISOString().slice(0, 10) ?? null;

function readRow(row: Prisma.CampaignGetPayload<{ include: typeof withAds }>) {
  return {
    ...row,
    brief: row.brief as CampaignBrief,
    start_date: dayOf(row.start_date),
    end_date: dayOf(row.end_date),
    metadata: row.metadata as Record<string, unknown>,
    target: row.target as CampaignTarget,
    ...summarizeAds(row.ads),
  };
}

export async function findCampaign(db: Reader, caller: Principal, id: string): Promise<CampaignWithAds | undefined> {
  const row = await db.campaign.findFirst({ where: { AND: [visibleTo(caller), { id }] }, include: withAds });
  return row ? readRow(row) : undefined;
}

/** Locks the campaign, so that a change is decided on what it is now. */
export async function lockCampaign(tx: Tx, caller: Principal, id: string): Promise<CampaignWithAds | undefined> {
  await tx.$queryRaw`SELECT id FROM campaigns WHERE id = ${id} AND account_id = ${caller.accountId} FOR UPDATE`;
  return findCampaign(tx, caller, id);
}

export async function insertCampaign(tx: Sql, row: CampaignRow): Promise<void> {
  const json = {
    brief: JSON.stringify(row.brief),
    metadata: JSON.stringify(row.metadata),
    target: JSON.stringify(row.target),
  };
  await tx.$executeRaw`
    INSERT INTO campaigns (id, account_id, group_id, created_by, name, description, brief, start_date, end_date, priority,
      status, metadata, target, created_at, updated_at)
    VALUES (${row.id}, ${row.account_id}, ${row.group_id}, ${row.created_by}, ${row.name}, ${row.description},
      ${json.brief}::jsonb, ${row.start_date}::date, ${row.end_date}::date, ${row.priority},
      ${row.status}::"CampaignStatus", ${json.metadata}::jsonb, ${json.target}::jsonb, ${row.created_at},
      ${row.updated_at})`;
}

const day = (date: string | null) => (date === null ? null : new Date(`${date}T00:00:00Z`));
const json = (value: object) => value as Prisma.InputJsonObject;

export async function replaceFields(
  tx: Tx,
  { id, ads }: CampaignWithAds,
  fields: CampaignFields,
  now: Date,
): Promise<CampaignWithAds> {
  const columns = {
    ...fields,
    brief: json(fields.brief),
    metadata: json(fields.metadata),
    start_date: day(fields.start_date),
    end_date: day(fields.end_date),
  };
  const row = await tx.campaign.update({ where: { id }, data: { ...columns, updated_at: now } });
  return readRow({ ...row, ads });
}
