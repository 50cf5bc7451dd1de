import { type ArmSums, designEffect } from './clusters.ts';
import { differenceOf, type Estimate, ratioOf, wilson } from './intervals.ts';
import { type PlayedHours, type SampleRatio, sampleRatio } from './sample-ratio.ts';
import { normalQuantile, studentQuantile } from './student.ts';

/** `holdout`: chance left the campaign out of some hours. `observational`: people who met it, beside people who did not. */
export type Design = 'holdout' | 'observational';

/** Why nothing is said, the first that applies. */
type LiftReason =
  | 'no_exposed'
  | 'no_control'
  | 'too_few_visitors'
  | 'too_few_conversions'
  | 'too_few_clusters'
  | 'sample_ratio_mismatch';

/** Of the intervals, in percent. */
export const confidence = 95 as const;

const least = { visitors: 100, conversions: 5, clusters: 20 } as const;

/** An arm's size and rate in percent, with its interval where there is one. */
export interface Arm {
  readonly visitors: number;
  readonly converted: number;
  readonly rate: number | null;
  readonly rate_low: number | null;
  readonly rate_high: number | null;
  readonly clusters: number;
  readonly design_effect: number;
}

interface Judged {
  readonly sums: ArmSums;
  readonly designEffect: number;
  /** Undefined where too little is known for an interval. */
  readonly share: Estimate | undefined;
}

function judge(sums: ArmSums, design: Design): Judged {
  const { visitors, converted, clusters } = sums;
  const effect = designEffect(sums);
  if (visitors === 0 || (design === 'holdout' && clusters < 2)) return { sums, designEffect: effect, share: undefined };
  // Few hours are few, however many visitors they had.
  const z = design === 'holdout' ? studentQuantile(clusters - 1) : normalQuantile;
  return { sums, designEffect: effect, share: wilson(converted / visitors, visitors / effect, z) };
}

const percent = (share: number) => 100 * share;

const viewArm = ({ sums: { visitors, converted, clusters }, designEffect: design_effect, share }: Judged): Arm => ({
  visitors,
  converted,
  rate: visitors === 0 ? null : percent(converted / visitors),
  rate_low: share ? percent(share.low) : null,
  rate_high: share ? percent(share.high) : null,
  clusters,
  design_effect,
});

function reasonOf(design: Design, exposed: ArmSums, control: ArmSums, ratio: SampleRatio | null): LiftReason | null {
  const arms = [exposed, control];
  if (exposed.visitors === 0) return 'no_exposed';
  if (control.visitors === 0) return 'no_control';
  if (arms.some(({ visitors }) => visitors < least.visitors)) return 'too_few_visitors';
  if (arms.some(({ converted }) => converted < least.conversions)) return 'too_few_conversions';
  if (design === 'holdout' && arms.some(({ clusters }) => clusters < least.clusters)) return 'too_few_clusters';
  return ratio?.mismatch ? 'sample_ratio_mismatch' : null;
}

const unsaid = {
  ...{ difference: null, difference_low: null, difference_high: null },
  ...{ lift: null, lift_low: null, lift_high: null },
};

function compared(exposed: Estimate, control: Estimate) {
  const [difference, ratio] = [differenceOf(exposed, control), ratioOf(exposed, control)];
  return {
    difference: percent(difference.value),
    difference_low: percent(difference.low),
    difference_high: percent(difference.high),
    lift: percent(ratio.value - 1),
    lift_low: percent(ratio.low - 1),
    lift_high: percent(ratio.high - 1),
  };
}

/**
 * What a campaign did to the share of visitors who convert: the rates of both arms in percent, their difference in
 * percentage points, and the lift in percent, each with its 95 % interval; null with a `reason` where too little is known.
 */
export function liftOf(options: {
  readonly design: Design;
  readonly exposed: ArmSums;
  readonly control: ArmSums;
  /** Nothing counts of it with an observational design. */
  readonly played: readonly PlayedHours[];
}) {
  const { design } = options;
  const [exposed, control] = [judge(options.exposed, design), judge(options.control, design)];
  const ratio = design === 'holdout' ? sampleRatio(options.played) : null;
  const reason = reasonOf(design, exposed.sums, control.sums, ratio);
  const said = reason === null && exposed.share && control.share ? compared(exposed.share, control.share) : unsaid;
  return { exposed: viewArm(exposed), control: viewArm(control), ...said, reason, sample_ratio: ratio };
}
