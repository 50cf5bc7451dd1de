import { createVerifier, generateInternalKeys, generateKeySets, internalOf } from '@attribution/auth';
import type { Transport } from '@attribution/messaging';
import { loadService } from '@attribution/registry';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Stream } from './events.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The real service that events take effect in, and a look at its database from outside. */
export async function createReceiver(url: string, { receiver, effects }: Stream, transport: Transport, logger: Logger) {
  const internalKeys = generateInternalKeys();
  const { create } = await loadService(receiver);
  const service = create(
    {
      databaseUrl: url,
      transport,
      verifier: createVerifier(generateKeySets('bench').public),
      internal: internalOf(receiver, internalKeys.private[receiver], internalKeys.public),
      logger,
      problemBase: 'https://problems.attribution.example',
      checkAnswers: false,
    },
    { ORGANIZATION_URL: 'http://127.0.0.1:1' }, // Nobody is there.
  );
  const pool = new pg.Pool({ connectionString: url, max: 2 });

  async function rowsOf(table: string): Promise<number> {
    const { rows } = await pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
    return rows[0]?.count ?? 0;
  }

  return {
    service,
    empty: () => pool.query(`TRUNCATE inbox, outbox, ${effects} CASCADE`),
    /** Resolves when that many events have taken effect; throws when there are more or other effects than events. */
    async effectsOf(events: number): Promise<void> {
      while ((await rowsOf('inbox')) < events) await pause(5);
      const [marks, made] = [await rowsOf('inbox'), await rowsOf(effects)];
      if (marks !== events || made !== events) throw new Error(`${events} events, ${marks} marks and ${made} effects`);
    },
    /** From now on notes when each mark, and with it the effect, is committed. */
    async watch(): Promise<void> {
      await pool.query(`
        CREATE UNLOGGED TABLE IF NOT EXISTS watched (event_id uuid, at timestamptz);
        TRUNCATE watched;
        CREATE OR REPLACE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN INSERT INTO watched VALUES (NEW.event_id, clock_timestamp()); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER watch AFTER INSERT ON inbox DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION note_commit()`);
    },
    /** Milliseconds since the epoch, by event id. */
    async watched(): Promise<Map<string, number>> {
      await pool.query('DROP TRIGGER watch ON inbox');
      const { rows } = await pool.query<{ event_id: string; at: number }>(
        'SELECT event_id, (extract(epoch FROM at) * 1000)::float AS at FROM watched',
      );
      return new Map(rows.map(({ event_id, at }) => [event_id, at]));
    },
  };
}
