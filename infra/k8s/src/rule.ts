import type { Manifest } from './manifests.ts';
import type { Programs } from './programs.ts';

/** The input of the rules: all manifests of one overlay, and what the code requires. */
export interface Platform {
  readonly manifests: readonly Manifest[];
  readonly programs: Programs;
}

export interface Finding {
  /** `Deployment/account-api` */
  readonly resource: string;
  readonly detail: string;
}

/** Returns what is wrong. A rule reads nothing but its argument. */
export type Rule = (platform: Platform) => Finding[];
