import { newId } from '@attribution/ids';
import type { Chance } from '@attribution/testing';
import type { Facts, PlayingAd, PlayingCampaign } from '../src/manifests/facts.ts';

export const newPlaying = (fields: Partial<PlayingCampaign> = {}): PlayingCampaign => ({
  id: newId('campaign'),
  version: 1,
  published_at: new Date('2027-01-01T00:00:00Z'),
  priority: 0,
  start_date: null,
  end_date: null,
  holdout_percent: 0,
  ...fields,
});

export const newAd = (campaign: Pick<PlayingCampaign, 'id'>, fields: Partial<PlayingAd> = {}): PlayingAd => ({
  campaign_ad_id: newId('campaign_ad'),
  campaign_id: campaign.id,
  ad_id: newId('ad'),
  position: 0,
  sha256: 'ab'.repeat(32),
  size_bytes: 1000,
  mime: 'image/png',
  duration_ms: 10_000,
  fit: 'contain',
  muted: false,
  ...fields,
});

/** A device with one screen, on which all of the ads are placed. */
export function oneScreen(timezone: string, campaigns: readonly PlayingCampaign[], ads: readonly PlayingAd[]): Facts {
  const campaign_ad_ids = ads.map(({ campaign_ad_id }) => campaign_ad_id);
  const size = { width_px: 1920, height_px: 1080 };
  return {
    device_id: newId('device'),
    place: { location_id: newId('location'), timezone },
    screens: [{ screen_id: newId('screen'), output: 'HDMI-1', ...size, campaign_ad_ids }],
    campaigns,
    ads,
  };
}

export const shuffled = <T>(chance: Chance, values: readonly T[]): T[] =>
  values
    .map((value) => ({ value, turn: chance.share() }))
    .toSorted((one, other) => one.turn - other.turn)
    .map(({ value }) => value);
