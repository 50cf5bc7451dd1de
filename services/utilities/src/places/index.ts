import { openThread, type Thread } from '../thread.ts';
import type { PlaceMethods } from './places.thread.ts';

export type { KnownPlace } from './places.thread.ts';

export type Places = Thread<PlaceMethods>;

/** The names and coordinates are in buffers, which do not count: 75 MB. */
const heapMb = 160;

export const openPlaces = (): Places =>
  openThread<PlaceMethods>(new URL('places.thread.ts', import.meta.url), ['find', 'nearest'], heapMb);
