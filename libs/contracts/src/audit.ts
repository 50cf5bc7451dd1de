import { areas } from './areas.ts';
import { AuditEntry } from './audit-entry.ts';
import { type Endpoint, type ServiceName, serviceNames } from './endpoint.ts';
import { type EventType, event } from './event.ts';
import { topic } from './topic.ts';

/** The service that keeps the audit log. Its endpoints write their records there themselves. */
export const auditKeeper = 'account' satisfies ServiceName;

/**
 * Whether a request that succeeded is in the audit log: everything that a person or a key changes, and every export. The
 * access rules and this one are all that decides it: an endpoint does not.
 */
export const isRecorded = ({ access: { credential }, method, turns, changes_nothing }: Endpoint): boolean =>
  (credential === 'any' || credential === 'person') && ((method !== 'GET' && !changes_nothing) || turns === 'export');

/** The event that carries a service's records. Records are in no order, so each has a key of its own, and none waits for another. */
const auditEvent = (service: ServiceName): EventType<typeof AuditEntry> =>
  event({
    type: `${service}.audit_recorded`,
    topic: topic({ name: `${service}.audit`, owner: service, partitions: 6 }),
    version: 1,
    key: (data) => data.id,
    data: AuditEntry,
  });

/** The events of all services with endpoints, apart from the one that keeps the log. */
export const auditEvents: Readonly<Partial<Record<ServiceName, EventType<typeof AuditEntry>>>> = Object.fromEntries(
  serviceNames
    .filter((name) => name !== auditKeeper && areas[name] !== undefined)
    .map((name) => [name, auditEvent(name)]),
);
