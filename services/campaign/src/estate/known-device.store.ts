import { type EventData, installationCreated, installationUpdated } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import { lockProjections, onBatch, type Projection } from '@attribution/messaging';

type State = EventData<typeof installationCreated>;

/** In the order of ids, so that two transactions cannot deadlock. What is newest wins, in whatever order it arrives. */
const upsert = `
  INSERT INTO known_devices AS known (id, account_id, named_at)
  SELECT DISTINCT ON (id) id, account_id, named_at FROM jsonb_populate_recordset(NULL::known_devices, $1::jsonb)
  ORDER BY id, named_at DESC, account_id DESC
  ON CONFLICT (id) DO UPDATE SET account_id = excluded.account_id, named_at = excluded.named_at
  WHERE (known.named_at, known.account_id) < (excluded.named_at, excluded.account_id)`;

async function write(tx: SqlTransaction, states: readonly State[]): Promise<void> {
  const rows = states.map(({ account_id, installation: { device_id, updated_at } }) => ({
    ...{ id: device_id, account_id, named_at: updated_at },
  }));
  if (rows.length > 0) await tx.$executeRawUnsafe(upsert, JSON.stringify(rows));
}

/** The devices that installations have named. They stay when the installations are deleted. */
export const knownDevices: Projection<State> = {
  handlers: [installationCreated, installationUpdated].map((event) => ({
    ...onBatch(event, (tx: SqlTransaction, events) =>
      write(
        tx,
        events.map(({ data }) => data),
      ),
    ),
    lock: lockProjections,
  })),
  of: (states) => (tx) => write(tx, states),
};
