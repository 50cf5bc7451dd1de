import { type Principal, visibleGroupIds } from '@attribution/auth';
import type { CampaignStatus } from '@attribution/contracts';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import type { Tx } from '../store.ts';
import type { CampaignBrief, CampaignTarget } from './campaign.ts';

type Reader = Pick<Tx, 'campaign'>;
type Status = z.output<typeof CampaignStatus>;

/** A narrowed caller sees the campaigns of its groups and those it created itself (decision 30). */
function visibleTo(caller: Principal): Prisma.CampaignWhereInput {
  const groups = visibleGroupIds(caller);
  return {
    account_id: caller.accountId,
    ...(groups && { OR: [{ group_id: { in: groups } }, { created_by: caller.id }] }),
  };
}

const withAds = { ads: { orderBy: [{ position: 'asc' }, { id: 'asc' }] } } satisfies Prisma.CampaignInclude;

/** Newest first. */
export async function findCampaigns(
  db: Reader,
  caller: Principal,
  page: { limit: number; before: string | undefined; statuses: readonly Status[] | undefined },
) {
  return db.campaign.findMany({
    where: {
      AND: [
        visibleTo(caller),
        page.before === undefined ? {} : { id: { lt: page.before } },
        page.statuses === undefined ? {} : { status: { in: [...page.statuses] } },
      ],
    },
    include: withAds,
    orderBy: { id: 'desc' },
    take: page.limit,
  });
}

export async function findCampaign(db: Reader, caller: Principal, id: string) {
  return db.campaign.findFirst({ where: { AND: [visibleTo(caller), { id }] }, include: withAds });
}

/** Locks the campaign, so that a change is decided on what it is now. */
export async function lockCampaign(tx: Tx, caller: Principal, id: string) {
  await tx.$queryRaw`SELECT id FROM campaigns WHERE id = ${id} AND account_id = ${caller.accountId} FOR UPDATE`;
  return findCampaign(tx, caller, id);
}

/** What a request may set; days as `YYYY-MM-DD`. */
export interface CampaignFields {
  readonly group_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly brief: CampaignBrief;
  readonly start_date: string | null;
  readonly end_date: string | null;
  readonly priority: number;
  readonly metadata: Record<string, unknown>;
}

const day = (date: string | null) => (date === null ? null : new Date(`${date}T00:00:00Z`));
const json = (value: object) => value as Prisma.InputJsonObject;

function columns(fields: CampaignFields) {
  return {
    ...fields,
    brief: json(fields.brief),
    metadata: json(fields.metadata),
    start_date: day(fields.start_date),
    end_date: day(fields.end_date),
  };
}

export async function insertCampaign(
  tx: Tx,
  campaign: {
    id: string;
    accountId: string;
    createdBy: string;
    fields: CampaignFields;
    target: CampaignTarget;
    now: Date;
  },
) {
  const { id, accountId, createdBy, fields, target, now } = campaign;
  return tx.campaign.create({
    data: {
      id,
      account_id: accountId,
      created_by: createdBy,
      ...columns(fields),
      target: json(target),
      created_at: now,
      updated_at: now,
    },
    include: withAds,
  });
}

export async function replaceFields(tx: Tx, id: string, fields: CampaignFields, now: Date) {
  return tx.campaign.update({ where: { id }, data: { ...columns(fields), updated_at: now }, include: withAds });
}
