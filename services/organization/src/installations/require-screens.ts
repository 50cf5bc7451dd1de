import { Problem } from '@attribution/contracts';
import type { Change } from '../estate/index.ts';
import type { InstallationRow } from './installation.ts';
import { findMissingScreen } from './outputs.store.ts';

/** Requires that every output's screen is in the location, and locks these screens and those `before`. */
export async function requireScreens(
  { tx }: Change,
  locationId: string,
  outputs: InstallationRow['outputs'],
  before: InstallationRow['outputs'] = [],
): Promise<void> {
  const ids = screensOf(outputs);
  const missing = await findMissingScreen(tx, locationId, ids, screensOf(before));
  if (missing === undefined) return;
  const field = `body.outputs[${ids.indexOf(missing)}].screen_id`;
  throw new Problem('unprocessable', `${field}: there is no screen ${missing} in the location.`);
}

const screensOf = (outputs: InstallationRow['outputs']) => outputs.map(({ screen_id }) => screen_id);
