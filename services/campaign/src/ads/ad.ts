import { adDuration } from '@attribution/contracts';

/** The fields that a request may set later too. */
export interface AdFields {
  readonly ad_library_id: string;
  readonly name: string;
  readonly duration_ms: number;
  readonly fit: 'contain' | 'cover' | 'stretch';
  readonly muted: boolean;
  readonly click_through: { readonly url: string; readonly label: string | null } | null;
}

/** For an ad of a still image. */
const stillMs = 10_000;

/** How long an ad of the asset is shown, unless a request says so; the asset's own duration is absent for a still image. */
export const defaultDuration = ({ duration_ms = stillMs }: { readonly duration_ms?: number | undefined }): number =>
  Math.min(adDuration.max, Math.max(adDuration.min, duration_ms));
