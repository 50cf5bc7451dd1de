import { configFault, defaultHeartbeatSeconds, HeartbeatInterval, Problem } from '@attribution/contracts';
import { faultOf } from '@attribution/http';

/** The member of a configuration that the platform reads; all others are the firmware's. */
const intervalMember = 'heartbeat_interval_seconds';

/** The seconds between heartbeats that a desired configuration asks for. Throws `validation-error` for one that cannot be. */
export function readDesired(desired: Readonly<Record<string, unknown>>): { readonly heartbeatInterval: number } {
  const fault = configFault(desired);
  if (fault !== undefined) throw new Problem('validation-error', `body.desired: ${fault} after the patch.`);
  const interval = desired[intervalMember];
  if (interval === undefined) return { heartbeatInterval: defaultHeartbeatSeconds };
  const why = faultOf(HeartbeatInterval, interval);
  if (why !== undefined) throw new Problem('validation-error', `body.desired.${intervalMember}${why}`);
  return { heartbeatInterval: HeartbeatInterval.parse(interval) };
}
