/** What the checks are made of: a campaign's ads, their assets, and the screens that they reach. */

/** The asset of an ad, as its probe found it. `duration_ms` is that of a video or an animation. */
export interface AssetFacts {
  readonly kind: 'image' | 'video';
  readonly mime: string;
  readonly width: number;
  readonly height: number;
  readonly rotation: number;
  readonly codec: string;
  readonly duration_ms?: number | undefined;
  readonly variable_frame_rate?: boolean | undefined;
  readonly audio: boolean;
  readonly bit_depth: number | null;
  readonly chroma: string | null;
  readonly colour: string | null;
  readonly hdr: boolean;
}

/** How far a decoder came, of the newest analysis. */
export interface Decoding {
  readonly decode: 'complete' | 'sampled' | 'none';
  readonly decoded_frames: number;
}

/** Screens that are alike, and how many of them need attention. */
export interface ScreenKindFacts {
  readonly width_px: number;
  readonly height_px: number;
  readonly accepted_formats: string[];
  readonly audio: boolean;
  readonly screen_count: number;
  /** In no live installation. */
  readonly not_installed: number;
  /** In a location that is not active. */
  readonly inactive: number;
}

export interface AdFacts {
  readonly id: string;
  readonly screen_tag: string;
  readonly score: number | null;
  readonly duration_ms: number;
  readonly fit: 'contain' | 'cover' | 'stretch';
  readonly muted: boolean;
  /** null: the asset is gone, which only happens to archived campaigns. */
  readonly asset: AssetFacts | null;
  /** null: there is no analysis. */
  readonly decoding: Decoding | null;
  /** Whether its tag reaches any screen, seen by the caller or not. */
  readonly reaches: boolean;
  /** Of the screens that the caller sees. */
  readonly kinds: readonly ScreenKindFacts[];
}

export interface CampaignFacts {
  readonly end_date: string | null;
  /** By position and id. */
  readonly ads: readonly AdFacts[];
  readonly campaign_score: number | null;
  /** Distinct ones that the caller sees. */
  readonly matched_screens: number;
  readonly matched_locations: number;
  /** The time zones of these locations. */
  readonly timezones: readonly string[];
  /** Whether the target reaches screens that the caller does not see. */
  readonly out_of_reach: boolean;
}
