import type { Manifest } from './manifests.ts';
import type { Programs } from './programs.ts';

/** What the rules judge: everything that one environment is given, beside what the code asks for. */
export interface Platform {
  readonly manifests: readonly Manifest[];
  readonly programs: Programs;
}

export interface Finding {
  /** `Deployment/account-api` */
  readonly resource: string;
  readonly detail: string;
}

/** Tells what is wrong. It reads nothing but its argument. */
export type Rule = (platform: Platform) => Finding[];
