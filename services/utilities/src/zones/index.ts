import { openThread, type Thread } from '../thread.ts';
import type { ZoneMethods } from './zones.thread.ts';

export { localTime, offsetMinutes, zonesOf } from './zone.ts';

export type Zones = Thread<ZoneMethods>;

const heapMb = 96;

export const openZones = (): Zones =>
  openThread<ZoneMethods>(new URL('zones.thread.ts', import.meta.url), ['zonesAt'], heapMb);
