import type { Validation } from '@attribution/contracts';
import type { z } from 'zod';
import { summarizeAds } from './campaign.ts';

type Report = z.output<typeof Validation>;
type Check = Report['checks'][number];

interface ValidatedAd {
  readonly id: string;
  readonly screen_tag: string;
  readonly score: number | null;
}

/** The checks that publishing would make. Errors prevent publishing, warnings only inform. */
export function validateCampaign(ads: readonly ValidatedAd[]): Report {
  const checks: Check[] = [];
  if (ads.length === 0) {
    checks.push({ code: 'no_ads', severity: 'error', detail: 'The campaign has no ads: nothing would be shown.' });
  }
  const ofAds = ads.map((ad) => ({ campaign_ad_id: ad.id, checks: checkAd(ad), score: ad.score }));
  const all = [...checks, ...ofAds.flatMap((ad) => ad.checks)];
  const errors = all.filter((check) => check.severity === 'error').length;
  const warnings = all.length - errors;
  return {
    status: errors > 0 ? 'error' : warnings > 0 ? 'warning' : 'ok',
    error_count: errors,
    warning_count: warnings,
    checks,
    ads: ofAds,
    effectiveness_score: summarizeAds(ads).campaign_score,
  };
}

function checkAd(ad: ValidatedAd): Check[] {
  if (ad.score !== null) return [];
  return [
    { code: 'not_scored', severity: 'warning', detail: `The ad for screens tagged ${ad.screen_tag} has no score yet.` },
  ];
}
