import { type Client, lookUpTimeZone, Problem } from '@attribution/contracts';

interface Coordinates {
  readonly latitude: number | null;
  readonly longitude: number | null;
}

/** As many decimals as a look-up takes: the eighth is a millimetre. */
const places = 8;

export const zoneUnknown = 'timezone: the zone of these coordinates cannot be found out now. Give it, or try again.';

/** The time zone of a point. Throws `unavailable` if Utilities does not say. */
export async function findZone(utilities: Client, { latitude, longitude }: Coordinates): Promise<string> {
  const query = { latitude: latitude?.toFixed(places), longitude: longitude?.toFixed(places) };
  const answer = await utilities.call(lookUpTimeZone, { query }).catch(() => undefined);
  if (answer && !answer.problem) return answer.body.timezone;
  throw new Problem('unavailable', `body.${zoneUnknown}`, { 'retry-after': '5' });
}
