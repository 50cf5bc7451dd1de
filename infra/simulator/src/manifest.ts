/** What a device is told to play (schema version 1). Fields that it does not know are ignored. Instants are ISO 8601. */
export interface Manifest {
  readonly schema_version: number;
  readonly device_id: string;
  /** Null as long as the device is not installed; nothing in what a device remembers from before it was told. */
  readonly location_id?: string | null;
  readonly version: number;
  readonly covers_from: string;
  readonly covers_to: string;
  readonly files: readonly ManifestFile[];
  readonly items: readonly ManifestItem[];
  readonly screens: readonly ManifestScreen[];
  readonly holdouts?: readonly Holdout[];
}

/** When a campaign is kept off the screens, to compare. */
export interface Holdout {
  readonly campaign_id: string;
  readonly start_at: string;
  readonly end_at: string;
}

export interface ManifestFile {
  readonly sha256: string;
  readonly size_bytes: number;
  readonly url: string;
  readonly url_expires_at: string;
}

export interface ManifestItem {
  readonly campaign_ad_id: string;
  readonly campaign_id: string;
  readonly version: number;
  readonly sha256: string;
  readonly duration_ms: number;
  readonly not_before: string | null;
  readonly not_after: string | null;
}

export interface ManifestScreen {
  readonly screen_id: string;
  readonly output: string;
  readonly slots: readonly Slot[];
}

/** A time in which a list of ads plays round and round. No start: so already at `covers_from`. No end: until told otherwise. */
export interface Slot {
  readonly start_at: string | null;
  readonly end_at: string | null;
  readonly campaign_ad_ids: readonly string[];
}
