import { describeSettings } from '@attribution/runtime';
import type { Service } from '../services.ts';

/** The settings of a service whose values come from its own secret, `<name>-secrets`. */
export function ownSecretsOf({ settings, deployment }: Service): string[] {
  const mounted = deployment?.kubernetes?.files ?? {};
  return describeSettings(settings)
    .filter(({ name, secret }) => secret && !(name in mounted))
    .map(({ name }) => name);
}
