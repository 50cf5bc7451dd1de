import type { Appended, Note } from './audit.ts';

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
export type Data = {
  readonly [name: string]: unknown;
  readonly group?: { id: string };
  readonly location?: { id: string };
};

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
  {
    event: 'group.created',
    service: 'account',
    relation: 'known_groups',
    operation: 'INSERT',
    ofData: (data) => data.group?.id,
    ofRow: (row) => row.id,
  },
  {
    event: 'group.deleted',
    service: 'account',
    relation: 'known_groups',
    operation: 'DELETE',
    ofData: (data) => data.group_id,
    ofRow: (row) => row.id,
  },
  {
    event: 'group.created',
    service: 'campaign',
    relation: 'known_groups',
    operation: 'INSERT',
    ofData: (data) => data.group?.id,
    ofRow: (row) => row.id,
  },
  {
    event: 'group.deleted',
    service: 'campaign',
    relation: 'known_groups',
    operation: 'DELETE',
    ofData: (data) => data.group_id,
    ofRow: (row) => row.id,
  },
];

/** What must have been done in the transaction that told of it, and nothing else: as `INSERT groups grp_…`. */
export function causesOf({ type, data }: Appended): readonly string[] {
  const { account_id, owner_user_id, entry_id, payment_id, campaign_id, group_id, location_id, group, location } =
    data as Data;
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
    case 'group.created':
      return [`INSERT groups ${group?.id}`];
    case 'group.updated':
      return [`UPDATE groups ${group?.id}`];
    case 'group.deleted':
      return [`DELETE groups ${group_id}`];
    case 'location.created':
      return [`INSERT locations ${location?.id}`];
    case 'location.updated':
      return [`UPDATE locations ${location?.id}`];
    case 'location.deleted':
      return [`DELETE locations ${location_id}`];
    case 'campaign.created':
      return [`INSERT campaigns ${campaign_id}`];
    case 'event.dead_lettered': // Counted by itself.
      return [];
    default:
      throw new Error(`The checker does not know what makes ${type}: add it to effects.ts`);
  }
}

/** In the words of `causesOf`; undefined for what no event tells of. */
export function causeOf({ relation, operation, row }: Note): string | undefined {
  if (['outbox', 'inbox', 'known_groups', 'customers', 'settlements'].includes(relation)) return undefined;
  if (relation === 'money_entries') return `${operation} money_entries ${row.payment_id}`;
  if (relation === 'memberships') return `${operation} memberships ${row.account_id} ${row.user_id}`;
  return `${operation} ${relation} ${relation === 'balances' ? row.account_id : row.id}`;
}
