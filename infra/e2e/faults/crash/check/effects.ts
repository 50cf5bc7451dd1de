import {
  auditEvents,
  auditKeeper,
  type EstateKind,
  endpoints,
  estateKinds,
  idPrefixes,
  internalEndpoints,
} from '@attribution/contracts';
import type { Appended, Note } from './audit.ts';
import { followed } from './followed.ts';

/** What an event changes in the database of a service that handles it. */
interface Effect {
  readonly event: string;
  readonly service: string;
  readonly relation: string;
  readonly operation: Note['operation'];
  /** Returns a key from the event's data that equals `keyOfRow` of the row that the event inserts or deletes. */
  readonly keyOfData: (data: Data) => unknown;
  readonly keyOfRow: (row: Note['row']) => unknown;
  /** Tells effects from other rows of the relation. Default: all rows are effects. */
  readonly isEffect?: (row: Note['row']) => boolean;
  /** Several events may have one key: the first that is handled has the effect, and the others have none. */
  readonly repeats?: boolean;
}
export type Data = { readonly [name: string]: unknown };

/** Whether a row of the audit log came from another service than the one that keeps it. */
const isRecordOf = (service: string) => {
  const own = [...endpoints, ...internalEndpoints].filter((one) => one.service === service);
  const actions = new Set<unknown>([...own.map(({ operation }) => operation), 'estate_import.ended']);
  return (row: Note['row']) => actions.has(row.action);
};

/** The effects of all handlers that the load reaches. The check fails when a service handles a type of event that is missing here. */
export const effects: readonly Effect[] = [
  {
    event: 'account.created',
    service: 'organization',
    relation: 'groups',
    operation: 'INSERT',
    keyOfData: (data) => data.account_id,
    keyOfRow: (row) => row.account_id,
    isEffect: (row) => row.name === 'Main',
  },
  {
    event: 'account.created',
    service: 'billing',
    relation: 'customers',
    operation: 'INSERT',
    keyOfData: (data) => data.account_id,
    keyOfRow: (row) => row.account_id,
    // An account that buys before Billing has handled account.created is a customer without a name until then.
    isEffect: (row) => row.name !== '',
  },
  {
    event: 'payment.succeeded',
    service: 'account',
    relation: 'settlements',
    operation: 'INSERT',
    keyOfData: (data) => `payment:${data.payment_id}`,
    keyOfRow: (row) => row.key,
  },
  ...Object.entries(auditEvents).map(
    ([service, { type }]): Effect => ({
      event: type,
      service: auditKeeper,
      relation: 'audit_log',
      operation: 'INSERT',
      keyOfData: (data) => data.id,
      keyOfRow: (row) => row.id,
      isEffect: isRecordOf(service),
      // An attempt in another system that is repeated after a crash tells its record again, with the same id (ADR 33).
      repeats: endpoints.some((one) => one.service === service && one.external),
    }),
  ),
  ...followed.map(
    ({ service, kind }): Effect => ({
      event: `${kind}.deleted`,
      service,
      relation: 'projection_tombstones',
      operation: 'INSERT',
      keyOfData: (data) => data[`${kind}_id`],
      keyOfRow: (row) => row.id,
      isEffect: (row) => String(row.id).startsWith(`${idPrefixes[kind]}_`),
    }),
  ),
];

/** A table that follows resources of Organization: the newest state wins, whether it comes by event or by snapshot page. */
export interface Projection {
  readonly service: string;
  readonly relation: string;
  readonly kind: EstateKind;
  readonly states: readonly string[];
  readonly deletedBy: string;
}
export const projections: readonly Projection[] = followed.map(({ service, relation, kind }) => ({
  service,
  relation,
  kind,
  states: [`${kind}.created`, `${kind}.updated`],
  deletedBy: `${kind}.deleted`,
}));

/** The event types that a service handles. */
export const eventTypesHandledBy = (service: string): ReadonlySet<string> =>
  new Set([
    ...effects.filter((effect) => effect.service === service).map(({ event }) => event),
    ...projections.filter((one) => one.service === service).flatMap(({ states }) => states),
  ]);

/** A change of an estate resource. */
export interface EstateChange {
  readonly kind: string;
  readonly verb: 'created' | 'updated' | 'deleted';
  readonly id: string;
  /** The resource after the change; undefined if it was deleted. */
  readonly state: Readonly<Record<string, unknown>> | undefined;
}

/** The estate change that an event announces; undefined for other events. */
export function changeOf(type: string, data: Data): EstateChange | undefined {
  const [kind = '', verb = ''] = type.split('.');
  if (!(estateKinds as readonly string[]).includes(kind)) return undefined;
  const state = data[kind] as EstateChange['state'];
  return { kind, verb: verb as EstateChange['verb'], id: String(state?.id ?? data[`${kind}_id`]), state };
}

/** The changes that the transaction of an event must contain, and no others: as `INSERT groups grp_…`. */
export function causesOf({ type, data }: Appended): readonly string[] {
  if (Object.values(auditEvents).some((event) => event.type === type)) return []; // It announces no row.
  const change = changeOf(type, data as Data);
  if (change)
    return [`${{ created: 'INSERT', updated: 'UPDATE', deleted: 'DELETE' }[change.verb]} ${change.kind}s ${change.id}`];
  const { account_id, owner_user_id, entry_id, payment_id, campaign_id } = data as Data;
  switch (type) {
    case 'account.created':
      return [
        `INSERT accounts ${account_id}`,
        `INSERT users ${owner_user_id}`,
        `INSERT memberships ${account_id} ${owner_user_id}`,
        `INSERT balances ${account_id}`,
      ];
    case 'tokens.granted':
      return [`INSERT ledger_entries ${entry_id}`];
    case 'payment.succeeded':
      return [`INSERT money_entries ${payment_id}`];
    case 'campaign.created':
      return [`INSERT campaigns ${campaign_id}`];
    case 'event.dead_lettered': // Dead letters are counted separately.
      return [];
    default:
      throw new Error(`The checker does not know what makes ${type}: add it to effects.ts`);
  }
}

/** Relations whose changes are effects of events, or have no event. */
const relationsWithoutCauses = [
  'outbox',
  'inbox',
  ...new Set(followed.map(({ relation }) => relation)),
  'projection_tombstones',
  'projection_snapshots',
  'customers',
  'settlements',
  'audit_log',
];

/** A change in the notation of `causesOf`; undefined if it has no event. */
export function causeOf({ relation, operation, row }: Note): string | undefined {
  if (relationsWithoutCauses.includes(relation)) return undefined;
  if (relation === 'money_entries') return `${operation} money_entries ${row.payment_id}`;
  if (relation === 'memberships') return `${operation} memberships ${row.account_id} ${row.user_id}`;
  return `${operation} ${relation} ${relation === 'balances' ? row.account_id : row.id}`;
}
