import { checkCodes } from '@attribution/contracts';
import { checkAd, error, warning } from './ad-checks.ts';
import type { AdFacts, CampaignFacts, ScreenKindFacts } from './facts.ts';
import { checkKind } from './kind-checks.ts';
import { type Check, type CheckedAd, type Report, reportOf } from './report.ts';

/** The checks that publishing makes. Errors prevent it, warnings inform. */
export function validate(campaign: CampaignFacts, now: Date): Report {
  const { matched_screens, matched_locations, campaign_score } = campaign;
  return reportOf({
    checks: checkCampaign(campaign, now),
    ads: campaign.ads.map(checkWhole),
    ...{ matched_screens, matched_locations },
    effectiveness_score: campaign_score,
  });
}

function checkCampaign({ ads, end_date, timezones, out_of_reach }: CampaignFacts, now: Date): Check[] {
  const checks: Check[] = [];
  if (ads.length === 0) checks.push(error('no_ads', 'The campaign has no ads: nothing would be shown.'));
  else if (!ads.some(({ reaches }) => reaches))
    checks.push(error('no_placement', 'None of its ads reaches a screen: nothing would be shown.'));
  if (end_date !== null && timezones.length > 0 && timezones.every((zone) => end_date < localDate(now, zone)))
    checks.push(warning('ended', `Its last day, ${end_date}, is over in every location that it reaches.`));
  if (out_of_reach)
    checks.push(warning('target_out_of_reach', 'The target reaches screens of groups that you do not hold.'));
  return checks;
}

/** The local date of an instant, as `YYYY-MM-DD`. */
const localDate = (now: Date, zone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(zone).toPlainDate().toString();

/** By code; of one code, by the kind of screen. */
const order = new Map<string, number>(checkCodes.map((code, at) => [code, at]));

function checkWhole(ad: AdFacts): CheckedAd {
  const { id, score, asset } = ad;
  const kinds = ad.kinds.toSorted(byKind);
  const ofKinds = kinds.flatMap((kind, screen_kind) =>
    asset
      ? checkKind(ad, asset, kind).map(({ code, severity, detail, ...rest }) => ({
          code,
          severity,
          detail,
          screen_kind,
          ...rest,
        }))
      : [],
  );
  return {
    ...{ id, score },
    screen_count: kinds.reduce((sum, kind) => sum + kind.screen_count, 0),
    kinds: kinds.map(({ not_installed: _, inactive: __, ...kind }) => kind),
    checks: [...checkAd(ad), ...ofKinds].toSorted((a, b) => (order.get(a.code) ?? 0) - (order.get(b.code) ?? 0)),
  };
}

/** Any order will do, as long as it is always the same. */
function byKind(a: ScreenKindFacts, b: ScreenKindFacts): number {
  const [left, right] = [a, b].map(({ accepted_formats, audio }) => `${accepted_formats.join()} ${audio}`) as [
    string,
    string,
  ];
  return a.width_px - b.width_px || a.height_px - b.height_px || (left < right ? -1 : 1);
}
