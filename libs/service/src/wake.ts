import { notify } from '@attribution/database';
import type pg from 'pg';

/** The channel on which an `api` wakes the workers. The payload is the name of a job, or of the relay. */
export const wakeChannel = 'wake';

/** Makes a worker of the service that owns this database run a job now. */
export const wakeWorkers = (pool: pg.Pool, job: string): Promise<void> => notify(pool, wakeChannel, job);
