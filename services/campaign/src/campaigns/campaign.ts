import type { Principal } from '@attribution/auth';
import { type Brief, Problem, type CampaignStatus as Status } from '@attribution/contracts';
import type { z } from 'zod';
import { type CampaignTarget, emptyTarget } from '../target/index.ts';

export type CampaignBrief = z.output<typeof Brief>;
export type CampaignStatus = z.output<typeof Status>;

/** The fields that a request may set; dates as `YYYY-MM-DD`. */
export interface CampaignFields {
  readonly group_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly brief: CampaignBrief;
  readonly start_date: string | null;
  readonly end_date: string | null;
  readonly priority: number;
  readonly metadata: Record<string, unknown>;
  /** The cover. */
  readonly media_asset_id: string | null;
}

/** The aggregates over a campaign's ads. */
interface AdSummary {
  readonly total_ad_count: number;
  readonly scored_ad_count: number;
  /** The average score of the ads that have one; null when none has. */
  readonly campaign_score: number | null;
}

export interface CampaignRow extends CampaignFields, AdSummary {
  readonly id: string;
  readonly account_id: string;
  /** Id of the user or key. */
  readonly created_by: string;
  readonly target: CampaignTarget;
  readonly status: CampaignStatus;
  readonly current_version: number | null;
  readonly live_version: number | null;
  /** The last instant at which placements were opened or closed. */
  readonly placed_at: Date | null;
  readonly screen_count: number;
  readonly estimated_locations: number;
  /** The stored object of the cover's poster. */
  readonly poster_key: string | null;
  readonly scored_signature: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** A campaign in a list, with only the product of its brief. */
export interface ListedCampaign extends Omit<CampaignRow, 'brief' | 'target' | 'created_by' | 'placed_at'> {
  readonly product: string | null;
}

export function summarizeAds(ads: readonly { readonly score: number | null }[]): AdSummary {
  const scores = ads.flatMap((ad) => ad.score ?? []);
  const campaign_score = scores.length === 0 ? null : scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return { total_ad_count: ads.length, scored_ad_count: scores.length, campaign_score };
}

/** A new campaign: a draft without targets. */
export function newDraft(
  id: string,
  author: Principal,
  fields: Omit<CampaignFields, 'media_asset_id'>,
  now: Date,
): CampaignRow {
  return {
    id,
    account_id: author.accountId,
    created_by: author.id,
    ...fields,
    target: emptyTarget,
    status: 'draft',
    current_version: null,
    live_version: null,
    placed_at: null,
    screen_count: 0,
    estimated_locations: 0,
    media_asset_id: null,
    poster_key: null,
    scored_signature: null,
    created_at: now,
    updated_at: now,
    ...summarizeAds([]),
  };
}

/** Bytes of `brief`, and of `metadata`, as JSON. */
const maxJsonBytes = 32 * 1024;

/** Throws `unprocessable` when the free JSON of a campaign is too large. */
export function requireSmallJson(fields: Pick<CampaignFields, 'brief' | 'metadata'>): void {
  for (const name of ['brief', 'metadata'] as const) {
    const bytes = Buffer.byteLength(JSON.stringify(fields[name]));
    if (bytes <= maxJsonBytes) continue;
    throw new Problem('unprocessable', `body.${name}: would have ${bytes} bytes as JSON; at most ${maxJsonBytes}.`);
  }
}

/** Throws `conflict` outside draft. */
export function requireDraft(status: CampaignStatus): void {
  if (status !== 'draft') throw new Problem('conflict', `The campaign is ${status}: only a draft can be changed.`);
}

interface Days {
  readonly start_date: string | null;
  readonly end_date: string | null;
}

/**
 * Dates are inclusive, as `YYYY-MM-DD`. Throws `validation-error` when they are in the wrong order, and names a date
 * in `given`.
 */
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
