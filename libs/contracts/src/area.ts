import type { Endpoint } from './endpoint.ts';
import type { EventType } from './event.ts';

/** The contracts of one service. */
export interface Area {
  readonly endpoints: readonly Endpoint[];
  /** Its Internal endpoints, which the gateway does not know. */
  readonly internalEndpoints: readonly Endpoint[];
  /** Its endpoints for devices, which the ingress alone knows. */
  readonly deviceEndpoints: readonly Endpoint[];
  /** The events that it publishes. */
  readonly events: readonly EventType[];
}

/** Modules that export endpoints, or events and their topics. */
type Modules = readonly object[];

/** Declares an area by its modules. Each folder with an `area.ts` is an area. */
export function defineArea(modules: Readonly<Partial<Record<keyof Area, Modules>>>): Area {
  const { endpoints = [], internalEndpoints = [], deviceEndpoints = [], events = [] } = modules;
  const valuesOf = (some: Modules): unknown[] => some.flatMap((module) => Object.values(module));
  return {
    endpoints: valuesOf(endpoints) as Endpoint[],
    internalEndpoints: valuesOf(internalEndpoints) as Endpoint[],
    deviceEndpoints: valuesOf(deviceEndpoints) as Endpoint[],
    events: valuesOf(events).filter(
      (value): value is EventType => typeof value === 'object' && value !== null && 'topic' in value,
    ),
  };
}
