import { hash } from 'node:crypto';
import type { LocalHour } from './local-time.ts';

/** A figure from 0 to 99 for a campaign at a location in a local hour: what devices and figures compute as well. */
export function holdoutBucket(campaignId: string, locationId: string, { date, hour }: LocalHour): number {
  const text = `${campaignId}|${locationId}|${date}|${String(hour).padStart(2, '0')}`;
  return Number(hash('sha256', text, 'buffer').readBigUInt64BE() % 100n);
}

/** Whether a campaign is kept off at a location in a local hour. */
export const isHeldOut = (
  campaign: { readonly id: string; readonly holdout_percent: number },
  locationId: string,
  hour: LocalHour,
): boolean => campaign.holdout_percent > 0 && holdoutBucket(campaign.id, locationId, hour) < campaign.holdout_percent;
