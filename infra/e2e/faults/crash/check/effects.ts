import { estateKinds } from '@attribution/contracts';
import type { Appended, Note } from './audit.ts';
import { followers } from './followers.ts';

/** What an event does in the database of a service that listens to it. */
interface Effect {
  readonly event: string;
  readonly service: string;
  readonly relation: string;
  readonly operation: Note['operation'];
  /** Of the event's data and of the row: the same for an event and the row that it makes or takes away. */
  readonly ofData: (data: Data) => unknown;
  readonly ofRow: (row: Note['row']) => unknown;
  /** Which rows are effects, where the relation has others as well. */
  readonly among?: (row: Note['row']) => boolean;
}
export type Data = { readonly [name: string]: unknown };

/** Of the product's handlers, all that the load gives something to do. An event with a mark and without an effect here fails the check. */
export const effects: readonly Effect[] = [
  {
    event: 'account.created',
    service: 'organization',
    relation: 'groups',
    operation: 'INSERT',
    ofData: (data) => data.account_id,
    ofRow: (row) => row.account_id,
    among: (row) => row.name === 'Main',
  },
  {
    event: 'account.created',
    service: 'billing',
    relation: 'customers',
    operation: 'INSERT',
    ofData: (data) => data.account_id,
    ofRow: (row) => row.account_id,
    // Whoever buys before the news of the account has come is a customer without a name until then.
    among: (row) => row.name !== '',
  },
  {
    event: 'payment.succeeded',
    service: 'account',
    relation: 'settlements',
    operation: 'INSERT',
    ofData: (data) => `payment:${data.payment_id}`,
    ofRow: (row) => row.key,
  },
  ...followers.map(
    (service): Effect => ({
      event: 'group.deleted',
      service,
      relation: 'projection_tombstones',
      operation: 'INSERT',
      ofData: (data) => data.group_id,
      ofRow: (row) => row.id,
    }),
  ),
];

/** A table that follows things of Organization: the newest state wins, whether an event brings it or a page of the snapshot. */
export interface Projection {
  readonly service: string;
  readonly relation: string;
  readonly kind: 'group';
  readonly states: readonly string[];
  readonly gone: string;
}
export const projections: readonly Projection[] = followers.map((service) => ({
  service,
  relation: 'known_groups',
  kind: 'group',
  states: ['group.created', 'group.updated'],
  gone: 'group.deleted',
}));

/** The types of events that a service does something about. */
export const heardBy = (service: string): ReadonlySet<string> =>
  new Set([
    ...effects.filter((effect) => effect.service === service).map(({ event }) => event),
    ...projections.filter((one) => one.service === service).flatMap(({ states }) => states),
  ]);

/** A change of a thing of the estate. */
export interface EstateChange {
  readonly kind: string;
  readonly deed: 'created' | 'updated' | 'deleted';
  readonly id: string;
  /** As the thing is then; undefined: gone. */
  readonly state: Readonly<Record<string, unknown>> | undefined;
}

/** What an event tells of the estate; undefined for one of something else. */
export function changeOf(type: string, data: Data): EstateChange | undefined {
  const [kind = '', deed = ''] = type.split('.');
  if (!(estateKinds as readonly string[]).includes(kind)) return undefined;
  const state = data[kind] as EstateChange['state'];
  return { kind, deed: deed as EstateChange['deed'], id: String(state?.id ?? data[`${kind}_id`]), state };
}

/** What must have been done in the transaction that told of it, and nothing else: as `INSERT groups grp_…`. */
export function causesOf({ type, data }: Appended): readonly string[] {
  const change = changeOf(type, data as Data);
  if (change)
    return [`${{ created: 'INSERT', updated: 'UPDATE', deleted: 'DELETE' }[change.deed]} ${change.kind}s ${change.id}`];
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
    case 'event.dead_lettered': // Counted by itself.
      return [];
    default:
      throw new Error(`The checker does not know what makes ${type}: add it to effects.ts`);
  }
}

/** Relations whose changes are effects, or nobody's matter. */
const untold = [
  'outbox',
  'inbox',
  'known_groups',
  'projection_tombstones',
  'projection_snapshots',
  'customers',
  'settlements',
];

/** In the words of `causesOf`; undefined for what no event tells of. */
export function causeOf({ relation, operation, row }: Note): string | undefined {
  if (untold.includes(relation)) return undefined;
  if (relation === 'money_entries') return `${operation} money_entries ${row.payment_id}`;
  if (relation === 'memberships') return `${operation} memberships ${row.account_id} ${row.user_id}`;
  return `${operation} ${relation} ${relation === 'balances' ? row.account_id : row.id}`;
}
