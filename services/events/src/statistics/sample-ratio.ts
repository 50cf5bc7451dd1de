import { erfc } from './erfc.ts';

/** Hours of locations in which a campaign played, was held, or both, by the percent of hours that should be held. */
export interface PlayedHours {
  readonly kind: 'control' | 'exposed' | 'mixed';
  readonly holdoutPercent: number;
  readonly hours: number;
}

export interface SampleRatio {
  readonly control_hours: number;
  readonly exposed_hours: number;
  readonly mixed_hours: number;
  readonly expected_control_percent: number | null;
  readonly p_value: number | null;
  readonly mismatch: boolean;
}

const mismatchBelow = 0.001;

/** Whether as many hours were held as should have been. If not, something chose hours that was no chance. */
export function sampleRatio(played: readonly PlayedHours[]): SampleRatio {
  const hoursOf = (kind: PlayedHours['kind']) =>
    played.filter((some) => some.kind === kind).reduce((sum, { hours }) => sum + hours, 0);
  const [control, exposed] = [hoursOf('control'), hoursOf('exposed')];
  // Percents are whole, and so are their sums.
  let [expected, variance] = [0, 0];
  for (const { kind, holdoutPercent, hours } of played) {
    if (kind === 'mixed') continue;
    expected += hours * holdoutPercent;
    variance += hours * holdoutPercent * (100 - holdoutPercent);
  }
  const hours = control + exposed;
  const squaredZ = (100 * control - expected) ** 2 / variance;
  const pValue = variance === 0 ? null : erfc(Math.sqrt(squaredZ / 2));
  return {
    control_hours: control,
    exposed_hours: exposed,
    mixed_hours: hoursOf('mixed'),
    expected_control_percent: hours === 0 ? null : expected / hours,
    p_value: pValue,
    mismatch: pValue !== null && pValue < mismatchBelow,
  };
}
