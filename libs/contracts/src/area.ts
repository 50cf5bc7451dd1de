import type { Endpoint } from './endpoint.ts';
import type { EventType } from './event.ts';

/** What one service offers to others. */
export interface Area {
  readonly endpoints: readonly Endpoint[];
  /** What other services ask of it; unknown at the gateway. */
  readonly internalEndpoints: readonly Endpoint[];
  /** What it publishes. */
  readonly events: readonly EventType[];
}

/** Modules whose exports are endpoints, or events beside their topics. */
type Modules = readonly object[];

/** Declares an area by its modules; each folder here with an `area.ts` is one. */
export function defineArea(modules: Readonly<Partial<Record<keyof Area, Modules>>>): Area {
  const { endpoints = [], internalEndpoints = [], events = [] } = modules;
  const valuesOf = (some: Modules): unknown[] => some.flatMap((module) => Object.values(module));
  return {
    endpoints: valuesOf(endpoints) as Endpoint[],
    internalEndpoints: valuesOf(internalEndpoints) as Endpoint[],
    events: valuesOf(events).filter(
      (value): value is EventType => typeof value === 'object' && value !== null && 'topic' in value,
    ),
  };
}
