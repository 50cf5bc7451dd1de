/** A live version of a campaign, as far as it decides when and where it plays. */
export interface PlayingCampaign {
  readonly id: string;
  readonly version: number;
  readonly published_at: Date;
  readonly priority: number;
  /** Local days, both inclusive; null: no bound. */
  readonly start_date: string | null;
  readonly end_date: string | null;
  readonly holdout_percent: number;
}

/** An ad of a live version, as it was frozen. */
export interface PlayingAd {
  readonly campaign_ad_id: string;
  readonly campaign_id: string;
  readonly ad_id: string;
  readonly position: number;
  readonly sha256: string;
  readonly size_bytes: number;
  readonly mime: string;
  readonly duration_ms: number;
  readonly fit: 'contain' | 'cover' | 'stretch';
  readonly muted: boolean;
}

/** A screen at an output of the live installation, and the live placements on it. */
export interface WiredScreen {
  readonly screen_id: string;
  readonly output: string;
  readonly width_px: number;
  readonly height_px: number;
  readonly campaign_ad_ids: readonly string[];
}

/** All that a manifest is made of. The order of the arrays does not matter. */
export interface Facts {
  readonly device_id: string;
  /** Where the live installation is; null without one. */
  readonly place: { readonly location_id: string; readonly timezone: string } | null;
  readonly screens: readonly WiredScreen[];
  readonly campaigns: readonly PlayingCampaign[];
  readonly ads: readonly PlayingAd[];
}
