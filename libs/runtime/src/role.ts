import { z } from 'zod';

/**
 * The role of a process in its service. `api` serves requests. `worker` publishes the outbox, handles events and runs jobs.
 * `all` does both, and migrates the database at its start. `migrate` migrates the database, and ends.
 */
const roles = ['api', 'worker', 'all', 'migrate'] as const;
export type Role = (typeof roles)[number];

/** The roles of processes that keep running. */
export type RunningRole = Exclude<Role, 'migrate'>;

export const RoleSetting = z.enum(roles).default('all').meta({
  description:
    '`api` answers requests; `worker` publishes the outbox, handles events and runs jobs; `migrate` brings the database up to date and ends; `all` does everything in one process. `api` and `worker` wait a minute for missing migrations, then end with 1',
});
