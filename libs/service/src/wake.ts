import { notify } from '@attribution/database';
import type pg from 'pg';

/** By which a process that serves lets the workers know: the payload is a job's name, or the relay's. */
export const wakeChannel = 'wake';

/** Has a worker of the service whose database this is run a job now. */
export const wakeWorkers = (pool: pg.Pool, job: string): Promise<void> => notify(pool, wakeChannel, job);
