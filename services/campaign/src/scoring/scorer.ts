import type { Score } from '@attribution/contracts';
import type { z } from 'zod';
import type { ScoringFacts } from './facts.ts';

export type Component = z.output<typeof Score>['components'][number];

export interface ScoredAd {
  readonly campaign_ad_id: string;
  readonly score: number;
  readonly components: readonly Component[];
}

/** Scores the ads of a campaign. */
export interface Scorer {
  /** Its name and version: another model is another signature. */
  readonly model: string;
  readonly heuristic: boolean;
  /** One for each ad. Throws when it cannot say now, and is asked again. */
  score(facts: ScoringFacts, signal: AbortSignal): Promise<readonly ScoredAd[]>;
}

/** To one decimal, half up. What binary fractions are off by is less than a billionth. */
export const toTenth = (value: number): number => Math.floor(value * 10 + 0.5 + 1e-9) / 10;
