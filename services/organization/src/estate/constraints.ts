import { Problem } from '@attribution/contracts';
import { violatedConstraint } from '@attribution/database';

/** What to answer when a constraint of the database is violated. */
const refusals: readonly (readonly [RegExp, string])[] = [
  [/^(\w+)s_account_id_external_id_key$/, 'body.external_id: is used by another $1.'],
  [/^locations_account_id_group_id_fkey$/, 'The group has locations: move or delete them first.'],
  [/^zones_.*_fkey$/, 'The location has zones: delete them first.'],
  [/^installations_.*_fkey$/, 'The location has installations: delete them first.'],
  [/^screens_.*_fkey$/, 'The zone has screens: move or delete them first.'],
  [/^cameras_.*_fkey$/, 'The zone has cameras: move or delete them first.'],
  [/^installation_outputs_.*screen_id_fkey$/, 'The screen is wired in an installation: change or delete that first.'],
  [/^installations_live_device$/, 'The device is in another live installation: remove it there first.'],
  [/^installation_outputs_live_screen$/, 'A screen is in another live installation: remove it there first.'],
];

/** The problem for a violated constraint; undefined for any other error. */
export function refusalOf(error: unknown): Problem | undefined {
  const constraint = violatedConstraint(error);
  if (constraint === undefined) return undefined;
  for (const [pattern, sentence] of refusals) {
    if (pattern.test(constraint)) return new Problem('conflict', constraint.replace(pattern, sentence));
  }
  return undefined;
}
