import type { KillStep } from '../crash/kill/kill-at.ts';

const written = (table: 'visits' | 'plays'): readonly KillStep[] => [
  { name: `before ${table} are written`, before: `insert into ${table} (` },
  { name: `after ${table} are written`, after: `insert into ${table} (` },
  { name: `after ${table} are committed, before the answer`, committed: `insert into ${table} (` },
];

/** Where the platform is killed while devices send: between all steps from the socket to the rollups. */
export const itemSteps: readonly KillStep[] = [
  { name: 'before the ids of visits are looked up', before: 'select event_id from visits' },
  { name: 'before the ids of plays are looked up', before: 'select event_id from plays' },
  { name: 'before what plays refer to is looked up', before: 'from known_campaign_ads as ad' },
  ...written('visits'),
  ...written('plays'),
  { name: 'before hours are marked', before: 'insert into dirty_hours' },
  { name: 'after hours are marked', after: 'insert into dirty_hours' },
  { name: 'before the event is written', before: 'insert into outbox' },
  { name: 'after the event is written, before the commit', after: 'insert into outbox' },
  { name: 'after the event is published, before it leaves the outbox', before: 'delete from outbox' },
  { name: 'before marks are taken', before: 'delete from dirty_hours' },
  { name: 'after marks are taken', after: 'delete from dirty_hours' },
  { name: 'after the facts of visits are deleted', after: 'delete from visit_facts' },
  { name: 'after the facts of visits are written', after: 'insert into visit_facts' },
  { name: 'after the facts of dwells are written', after: 'insert into dwell_facts' },
  { name: 'after the facts of exposures are written', after: 'insert into exposure_facts' },
  { name: 'after the facts of meetings are written', after: 'insert into meeting_facts' },
  { name: 'before the rollup of plays is written', before: 'insert into play_hours' },
  { name: 'after the rollup of plays is written, before the commit', after: 'insert into play_hours' },
  { name: 'after the rollups are committed', committed: 'insert into play_hours' },
];
