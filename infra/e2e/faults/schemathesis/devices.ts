import { createHash, randomBytes } from 'node:crypto';
import { type Client, claimDevice } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { rowsOf } from '../crash/check/databases.ts';

/** Devices that the owner has, and codes by which more can be claimed. */
export interface Devices {
  readonly dev: readonly string[];
  readonly labels: readonly string[];
}

/** More than all claims and retirements of a run. */
const labelCount = 1000;
const ownCount = 6;

/** As an import leaves them: the list of a factory comes by an Internal endpoint, which the gateway does not have. */
export async function fillDevices(owner: Client, databaseUrl: string): Promise<Devices> {
  const made = Array.from({ length: labelCount }, () => ({
    ...{ id: newId('device'), label: randomBytes(8).toString('hex').toUpperCase() },
  }));
  const rows = made.map(({ id, label }) => ({ id, hash: createHash('sha256').update(label).digest('hex') }));
  await rowsOf(
    databaseUrl,
    `WITH made AS (SELECT * FROM jsonb_to_recordset('${JSON.stringify(rows)}') AS made (id text, hash text)), devices AS (
       INSERT INTO devices (id, serial, public_key, key_id, name, created_at, updated_at)
       SELECT id, 'S-' || id, '-', hash, 'S-' || id, now(), now() FROM made)
     INSERT INTO claim_codes (device_id, kind, code_hash) SELECT id, 'label', hash FROM made`,
  );
  const [own, others] = [made.slice(0, ownCount), made.slice(ownCount)];
  for (const { id, label } of own) {
    const claimed = (await owner.call(claimDevice, { body: { claim_code: label } })).body;
    if (claimed.id !== id) throw new Error(`The label of ${id} has claimed ${claimed.id}`);
  }
  const ids = own.map(({ id }) => `'${id}'`).join(', ');
  await rowsOf(
    databaseUrl,
    `UPDATE devices SET status = 'active', activated_at = now(), certificates_issued = 1 WHERE id IN (${ids});
     INSERT INTO device_certificates (fingerprint, device_id, serial, not_before, not_after, renew_after, number, used_at)
     SELECT key_id, id, 'a1', now(), now() + interval '30 days', now() + interval '20 days', 1, now()
     FROM devices WHERE id IN (${ids})`,
  );
  return { dev: own.map(({ id }) => id), labels: others.map(({ label }) => label) };
}
