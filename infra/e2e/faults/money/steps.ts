import type { KillStep } from '../crash/kill/kill-at.ts';

/** The points at which the platform is killed: between all steps from the payment on the provider's page to the token grant. */
export const steps: readonly KillStep[] = [
  { name: 'before the notification is written down', before: 'insert into provider_events' },
  { name: 'after the notification is written down', after: 'insert into provider_events' },
  // By the name of its table: Account's ledger and the queue of jobs lock rows too, whenever they have something to do.
  { name: 'before the customer is locked', before: 'from customers where customers.account_id = $1 for no key update' },
  { name: 'before the payment is written', before: 'insert into payments' },
  { name: 'before the ledger entry is written', before: 'insert into money_entries' },
  { name: 'before the event is appended', before: 'insert into outbox' },
  { name: 'after the payment is committed', committed: 'insert into payments' },
  { name: 'before the notification is done', before: 'update provider_events set due_at =' },
  { name: 'before the event leaves the outbox', before: 'delete from outbox' },
  { name: 'before the tokens are granted', before: 'insert into token_grants' },
  { name: 'after the tokens are granted, before the commit', after: 'insert into token_grants' },
  { name: 'after the grant is committed', committed: 'insert into token_grants' },
];
