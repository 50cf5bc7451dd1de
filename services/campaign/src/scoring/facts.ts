import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { Look } from '../media/index.ts';

/** What is scored, frozen when a run begins, so that a score belongs to its signature whatever is changed meanwhile. */

/** Screens that are alike. */
export interface ReachedKind {
  readonly width_px: number;
  readonly height_px: number;
  readonly count: number;
}

export interface ScoredAdFacts {
  readonly campaign_ad_id: string;
  readonly ad_id: string;
  readonly sha256: string;
  readonly duration_ms: number;
  readonly fit: 'contain' | 'cover' | 'stretch';
  readonly screen_tag: string;
  /** Pixels of the asset, as it is shown. */
  readonly width: number;
  readonly height: number;
  /** null: nothing could decode the asset. */
  readonly look: Pick<Look, 'contrast' | 'sharpness' | 'colour' | 'text_density'> | null;
  readonly kinds: readonly ReachedKind[];
}

export interface ScoringFacts {
  readonly product: string | null;
  readonly objective: string | null;
  readonly outcome: string | null;
  readonly ads: readonly ScoredAdFacts[];
}

/** Equal for what is scored alike: lower-case hex SHA-256 over RFC 8785 JSON. */
export function signatureOf(model: string, { ads, product, objective, outcome }: ScoringFacts): string {
  const byId = (one: { readonly campaign_ad_id: string }, other: { readonly campaign_ad_id: string }) =>
    one.campaign_ad_id < other.campaign_ad_id ? -1 : 1;
  const scored = ads.toSorted(byId).map((ad) => ({
    ...{ campaign_ad_id: ad.campaign_ad_id, ad_id: ad.ad_id, sha256: ad.sha256, duration_ms: ad.duration_ms },
    ...{ fit: ad.fit, screen_tag: ad.screen_tag, reached: ad.kinds.toSorted(bySize) },
  }));
  const canonical = canonicalize([model, scored, product, objective, outcome]);
  if (canonical === undefined) throw new Error('What is scored is always JSON');
  return createHash('sha256').update(canonical, 'utf8').digest('hex');
}

const bySize = (a: ReachedKind, b: ReachedKind) => a.width_px - b.width_px || a.height_px - b.height_px;
