import { z } from 'zod';

/**
 * What a process does of its service's work. `api` answers requests. `worker` does what is behind them: it publishes
 * the outbox, hears events and runs jobs. `all` is both, and migrates at its start. `migrate` brings the database to
 * the state that the others need, and ends.
 */
const roles = ['api', 'worker', 'all', 'migrate'] as const;
export type Role = (typeof roles)[number];

/** Of a process that stays. */
export type RunningRole = Exclude<Role, 'migrate'>;

export const RoleSetting = z.enum(roles).default('all').meta({
  description:
    '`api` answers requests; `worker` publishes the outbox, handles events and runs jobs; `migrate` brings the database up to date and ends; `all` does everything in one process. `api` and `worker` wait a minute for missing migrations, then end with 1',
});
