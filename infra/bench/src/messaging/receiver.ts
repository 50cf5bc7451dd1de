import { createVerifier, generateInternalKeys, generateKeySets, internalOf } from '@attribution/auth';
import type { Transport } from '@attribution/messaging';
import { loadService } from '@attribution/registry';
import { worthlessSettings } from '@attribution/testing';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Stream } from './events.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Creates the real service that handles the events, with functions that observe its database. */
export async function createReceiver(url: string, { receiver, effects }: Stream, transport: Transport, logger: Logger) {
  const internalKeys = generateInternalKeys();
  const definition = await loadService(receiver);
  const service = definition.create(
    {
      databaseUrl: url,
      transport,
      verifier: createVerifier(generateKeySets('bench').public),
      internal: internalOf(receiver, internalKeys.private[receiver], internalKeys.public),
      logger,
      problemBase: 'https://problems.attribution.example',
      checkAnswers: false,
    },
    worthlessSettings(definition),
  );
  const pool = new pg.Pool({ connectionString: url, max: 2 });

  async function rowsOf(table: string): Promise<number> {
    const { rows } = await pool.query<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`);
    return rows[0]?.count ?? 0;
  }

  return {
    service,
    empty: () => pool.query(`TRUNCATE inbox, outbox, ${effects} CASCADE`),
    /** Resolves when that many events have taken effect. Throws if there are not as many effects as events. */
    async effectsOf(events: number): Promise<void> {
      while ((await rowsOf('inbox')) < events) await pause(5);
      const [inboxRows, effectRows] = [await rowsOf('inbox'), await rowsOf(effects)];
      if (inboxRows !== events || effectRows !== events)
        throw new Error(`${events} events, ${inboxRows} inbox rows and ${effectRows} effects`);
    },
    /** Records from now on when each inbox row, and with it the effect, is committed. */
    async watch(): Promise<void> {
      await pool.query(`
        CREATE UNLOGGED TABLE IF NOT EXISTS watched (event_id uuid, at timestamptz);
        TRUNCATE watched;
        CREATE OR REPLACE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN INSERT INTO watched VALUES (NEW.event_id, clock_timestamp()); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER watch AFTER INSERT ON inbox DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION note_commit()`);
    },
    /** Stops recording. Returns the commit times in milliseconds since the epoch, by event id. */
    async watched(): Promise<Map<string, number>> {
      await pool.query('DROP TRIGGER watch ON inbox');
      const { rows } = await pool.query<{ event_id: string; at: number }>(
        'SELECT event_id, (extract(epoch FROM at) * 1000)::float AS at FROM watched',
      );
      return new Map(rows.map(({ event_id, at }) => [event_id, at]));
    },
  };
}
