import type { Principal } from '@attribution/auth';
import { type Brief, type CampaignStatus, Problem, type Target } from '@attribution/contracts';
import type { z } from 'zod';

export type CampaignBrief = z.output<typeof Brief>;
export type CampaignTarget = z.output<typeof Target>;

/** A new campaign is aimed at nothing yet. */
export const emptyTarget: CampaignTarget = {
  include: { group_ids: [], location_ids: [], tags: [] },
  exclude: { group_ids: [], location_ids: [], tags: [] },
  holdout_percent: 0,
};

/** Throws `conflict` outside draft. */
export function requireDraft(status: z.output<typeof CampaignStatus>): void {
  if (status !== 'draft') throw new Problem('conflict', `The campaign is ${status}: only a draft can be changed.`);
}

interface Days {
  readonly start_date: string | null;
  readonly end_date: string | null;
}

/** Both inclusive, `YYYY-MM-DD`. Throws `validation-error`, of a day in `given`, when they are the wrong way round. */
export function requireDateOrder(
  { start_date, end_date }: Days,
  given: { readonly end_date?: string | null | undefined },
): void {
  if (start_date === null || end_date === null || start_date <= end_date) return;
  const fault = given.end_date
    ? `end_date: ${end_date} is before start_date ${start_date}`
    : `start_date: ${start_date} is after end_date ${end_date}`;
  throw new Problem('validation-error', `body.${fault}.`);
}

/** The group of a new campaign that names none: the only group of a caller who has just one (decision 40). */
export function defaultGroupId({ groups }: Principal): string | null {
  const [only, ...more] = groups?.keys() ?? [];
  return only !== undefined && more.length === 0 ? only : null;
}
