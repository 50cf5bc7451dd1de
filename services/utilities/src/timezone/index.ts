import { lookUpTimeZone, timezoneOf } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { Threads } from '../threads.ts';
import { attributions, toldNow } from '../told.ts';
import { offsetMinutes, zonesOf } from '../zones/index.ts';

interface TimezoneDependencies {
  readonly threads: Pick<Threads, 'zones'>;
  readonly clock: Clock;
}

export const timezoneEndpoint = ({ threads, clock }: TimezoneDependencies) =>
  implement(timezoneOf, async ({ query }) => {
    const { timezone, alternatives } = await zonesOf(threads, query);
    const at = query.at === undefined ? clock.now() : new Date(query.at);
    return {
      ...{ timezone, alternatives: [...alternatives] },
      utc_offset_minutes: offsetMinutes(at, timezone),
      ...toldNow(clock, 'geo-tz', attributions.openStreetMap),
    };
  });

export const lookUpTimeZoneEndpoint = ({ threads }: TimezoneDependencies) =>
  implement(lookUpTimeZone, async ({ query }) => ({ timezone: (await zonesOf(threads, query)).timezone }));
