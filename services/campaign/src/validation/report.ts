import type { CheckCode, Validation } from '@attribution/contracts';
import type { z } from 'zod';

export type Report = z.output<typeof Validation>;
type AdReport = Report['ads'][number];
type Status = Report['status'];

/** A check as the rules make it; the wire tolerates codes of later releases. */
export type Check = Report['checks'][number] & { readonly code: CheckCode };

const gravest = (checks: readonly Check[]): Status => {
  if (checks.some(({ severity }) => severity === 'error')) return 'error';
  return checks.length > 0 ? 'warning' : 'ok';
};

/** A campaign ad with its checks, in the order of the codes. */
export interface CheckedAd {
  readonly id: string;
  readonly score: number | null;
  readonly screen_count: number;
  readonly kinds: readonly Omit<AdReport['screen_kinds'][number], 'status'>[];
  readonly checks: readonly Check[];
}

interface Checked {
  readonly checks: readonly Check[];
  readonly ads: readonly CheckedAd[];
  readonly matched_screens: number;
  readonly matched_locations: number;
  readonly effectiveness_score: number | null;
}

/** Adds what follows from the checks: each status, and the counts. */
export function reportOf({ checks, ads, ...figures }: Checked): Report {
  const all = [...checks, ...ads.flatMap((ad) => ad.checks)];
  const errors = all.filter(({ severity }) => severity === 'error').length;
  return {
    status: gravest(all),
    error_count: errors,
    warning_count: all.length - errors,
    gates_publish: errors > 0,
    matched_screens: figures.matched_screens,
    matched_locations: figures.matched_locations,
    checks: [...checks],
    ads: ads.map(reportOfAd),
    effectiveness_score: figures.effectiveness_score,
  };
}

const reportOfAd = ({ id, score, screen_count, kinds, checks }: CheckedAd): AdReport => ({
  campaign_ad_id: id,
  status: gravest(checks),
  score,
  screen_count,
  screen_kinds: kinds.map((kind, at) => ({
    ...kind,
    status: gravest(checks.filter(({ screen_kind }) => screen_kind === at)),
  })),
  checks: [...checks],
});

/** The first error, as publishing names it; undefined without one. */
export function firstError({ checks, ads }: Report): string | undefined {
  const isError = ({ severity }: Report['checks'][number]) => severity === 'error';
  const ofCampaign = checks.find(isError);
  if (ofCampaign) return `${ofCampaign.code}: ${ofCampaign.detail}`;
  for (const { campaign_ad_id, checks: ofAd } of ads) {
    const error = ofAd.find(isError);
    if (error) return `${error.code} of ${campaign_ad_id}: ${error.detail}`;
  }
  return undefined;
}
