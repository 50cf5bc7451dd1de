import { areas } from './areas.ts';
import { auditEvents } from './audit.ts';
import { type Endpoint, serviceNames } from './endpoint.ts';
import type { EventType } from './event.ts';

const ordered = serviceNames.flatMap((name) => areas[name] ?? []);

/** Every public endpoint of the platform. */
export const endpoints: readonly Endpoint[] = ordered.flatMap((area) => area.endpoints);

/** Every Internal endpoint, for services alone. The gateway does not know them. */
export const internalEndpoints: readonly Endpoint[] = ordered.flatMap((area) => area.internalEndpoints);

/** Every endpoint for devices. The ingress serves these alone, and the gateway does not know them. */
export const deviceEndpoints: readonly Endpoint[] = ordered.flatMap((area) => area.deviceEndpoints);

/** Every event that services publish. */
export const events: readonly EventType[] = [...ordered.flatMap((area) => area.events), ...Object.values(auditEvents)];
