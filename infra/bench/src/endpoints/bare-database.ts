import { newUuid } from '@attribution/ids';
import type { Request } from 'express';
import pg from 'pg';
import { appendEvent } from './bare-statements.ts';

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

export const accountOf = (req: Request) => req.headers['x-account'];

/** A transaction as it is usually written over pg. */
export async function transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

interface BareEvent {
  readonly topic: string;
  readonly type: string;
  readonly account: string;
  readonly now: string;
  readonly data: object;
}

export const append = (client: pg.PoolClient, { topic, type, account, now, data }: BareEvent) =>
  client.query({ ...appendEvent, values: [newUuid(), topic, type, account, now, JSON.stringify(data)] });
