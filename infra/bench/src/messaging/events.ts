import { accountCreated, accountEvents, groupCreated, organizationEvents, type Topic } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { type NewEvent, newEvent } from '@attribution/messaging';

/** The events that are sent, and the service that handles them. */
export interface Stream {
  readonly topic: Topic;
  readonly receiver: 'campaign' | 'organization';
  /** The table that gets one row for each event. */
  readonly effects: string;
  /** How many events to send for each second that a run should last. */
  readonly eventsASecond: number;
  next(): NewEvent;
}

/** The accounts of the groups, which are also the events' keys. */
const accounts = Array.from({ length: 1_000 }, () => newId('account'));

/** Campaign keeps groups in a projection. */
const groups: Stream = {
  topic: organizationEvents,
  receiver: 'campaign',
  effects: 'known_groups',
  eventsASecond: 15_000,
  next() {
    const accountId = accounts[Math.floor(Math.random() * accounts.length)] ?? '';
    const occurredAt = new Date();
    const at = occurredAt.toISOString();
    const group = {
      id: newId('group'),
      external_id: null,
      name: 'Zurich',
      description: 'In the city',
      created_at: at,
      updated_at: at,
    };
    return newEvent(groupCreated, { account_id: accountId, aggregate_version: 1, group }, { accountId, occurredAt });
  },
};

/** Organization creates the first group of each account: a handler that publishes an event for every event. */
const newAccounts: Stream = {
  topic: accountEvents,
  receiver: 'organization',
  effects: 'groups',
  eventsASecond: 5_000,
  next() {
    const accountId = newId('account');
    const data = {
      account_id: accountId,
      name: 'Demo Retail',
      account_type: 'network',
      owner_user_id: newId('user'),
    };
    return newEvent(accountCreated, data, { accountId, occurredAt: new Date() });
  },
};

const streams: Readonly<Record<string, Stream>> = { groups, accounts: newAccounts };

export function streamOf(name: string | undefined): Stream {
  const stream = streams[name ?? ''];
  if (!stream) throw new Error(`There is no stream ${name}`);
  return stream;
}
