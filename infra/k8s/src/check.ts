import type { Finding, Platform, Rule } from './rule.ts';
import { connections } from './rules/connections.ts';
import { coverage } from './rules/coverage.ts';
import { environment } from './rules/environment.ts';
import { heap } from './rules/heap.ts';
import { images } from './rules/images.ts';
import { network } from './rules/network.ts';
import { pods } from './rules/pods.ts';
import { references } from './rules/references.ts';
import { rollouts } from './rules/rollouts.ts';
import { secrets } from './rules/secrets.ts';
import { selectors } from './rules/selectors.ts';

/** Our own rules by name: they reject what a cluster would accept but the platform would not work well with. */
const rules = {
  connections,
  coverage,
  environment,
  heap,
  images,
  network,
  pods,
  references,
  rollouts,
  secrets,
  selectors,
} as const satisfies Record<string, Rule>;

export interface Complaint extends Finding {
  readonly rule: keyof typeof rules | 'kubernetes';
}

/** Applies all rules. */
export const check = (platform: Platform): Complaint[] =>
  (Object.keys(rules) as (keyof typeof rules)[]).flatMap((rule) =>
    rules[rule](platform).map((finding) => ({ rule, ...finding })),
  );
