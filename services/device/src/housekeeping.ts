import type { Clock } from '@attribution/runtime';
import { purgeOf } from '@attribution/service';
import { missWindowMs } from './claims/index.ts';
import type { DeviceDatabase } from './store.ts';

/** What nobody needs any more: nonces whose time is over, windows of wrong codes, expired screen codes. */
export function housekeeping({ database, clock }: { readonly database: DeviceDatabase; readonly clock: Clock }) {
  const ago = (milliseconds: number) => () => new Date(clock.now().getTime() - milliseconds);
  return {
    'purge-first-contacts': purgeOf(database.pool, [
      { table: 'device_nonces', condition: 'expires_at <= $1', before: ago(0) },
      { table: 'claim_misses', condition: 'opened_at <= $1', before: ago(missWindowMs) },
      { table: 'claim_codes', condition: 'expires_at <= $1 AND ended_at IS NULL', before: ago(0) },
    ]),
  };
}
