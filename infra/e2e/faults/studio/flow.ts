import type { KillStep } from '../crash/kill/kill-at.ts';
import type { Till } from '../money/till.ts';

/** What is done while the platform is killed. */
export interface Flow {
  readonly name: string;
  /** What there is in the end, in words. */
  readonly whole: string;
  readonly steps: readonly KillStep[];
  /** Makes all that the request needs. */
  prepare(till: Till): Promise<Prepared>;
}

export interface Prepared {
  /** Sends the request, always with the same key. Resolves whether it is accepted. */
  ask(): Promise<boolean>;
  /** What there is of it. */
  look(): Promise<Found>;
}

export interface Found {
  /** Whether nothing will change any more. */
  readonly isOver: boolean;
  /** What is not as it should be, as JSON; undefined if all is. */
  readonly wrong: string | undefined;
}

/** Compares numbers with those that there should be. */
export const compared = (isOver: boolean, found: object, wanted: object): Found => ({
  isOver,
  wrong: JSON.stringify(found) === JSON.stringify(wanted) ? undefined : JSON.stringify(found),
});
