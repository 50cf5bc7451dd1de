import { areas } from './areas.ts';
import { type Endpoint, serviceNames } from './endpoint.ts';
import type { EventType } from './event.ts';

const ordered = serviceNames.flatMap((name) => areas[name] ?? []);

/** Every public endpoint of the platform. */
export const endpoints: readonly Endpoint[] = ordered.flatMap((area) => area.endpoints);

/** Every Internal endpoint, for services alone. The gateway does not know them. */
export const internalEndpoints: readonly Endpoint[] = ordered.flatMap((area) => area.internalEndpoints);

/** Every event that services publish. */
export const events: readonly EventType[] = ordered.flatMap((area) => area.events);
