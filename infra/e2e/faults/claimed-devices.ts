import { newId } from '@attribution/ids';
import { newFactoryKey } from '@attribution/simulator';
import { type Databases, rowsOf } from './crash/check/databases.ts';

/** A device that somebody has claimed, and that has never called. */
export interface ClaimedDevice {
  readonly id: string;
  readonly serial: string;
  /** Of the factory, as PEM. */
  readonly privateKey: string;
  readonly publicKey: string;
}

/** Makes devices of an account. The list of a factory comes by an Internal endpoint, which the gateway does not have. */
export async function claimedDevices(databases: Databases, account: string, count: number): Promise<ClaimedDevice[]> {
  const made = Array.from({ length: count }, () => {
    const id = newId('device');
    return { id, serial: `PLAYER-${id.slice(-12).toUpperCase()}`, ...newFactoryKey() };
  });
  const rows = made.map(({ id, serial, publicKey }) => ({ id, serial, key: publicKey }));
  await rowsOf(
    databases.device ?? '',
    `INSERT INTO devices (id, serial, public_key, key_id, name, status, account_id, claimed_at, created_at, updated_at)
     SELECT id, serial, key, id, serial, 'claimed', '${account}', now(), now(), now()
     FROM jsonb_to_recordset('${JSON.stringify(rows)}') AS made (id text, serial text, key text)`,
  );
  return made;
}

/** An address of this machine for the nth device, since first contacts are counted by address. */
export const addressOf = (n: number): string => `127.1.${Math.floor(n / 250)}.${(n % 250) + 1}`;
