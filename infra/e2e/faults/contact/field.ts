import { createHash, randomBytes } from 'node:crypto';
import { claimDevice } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { issueToIngress } from '@attribution/local';
import { freePort } from '@attribution/servers';
import { createDeviceClient, newFactoryKey, Refused, readKey } from '@attribution/simulator';
import { rowsOf } from '../crash/check/databases.ts';
import { openTill, type Till } from '../money/till.ts';

/** The firmware of a device, as far as its certificates are concerned. */
export type Firmware = ReturnType<typeof createDeviceClient>;

/** The platform in a process that can be killed, with devices that somebody has claimed. */
export async function openField() {
  const port = await freePort();
  const till = await openTill({ devicePort: port });
  const ca = issueToIngress(till.secrets.device_ca, ['localhost']).root;
  const ingress = { url: `https://127.0.0.1:${port}`, ca };
  return {
    till,
    ingress,
    /** A device that was claimed and has never called. */
    newDevice: () => newDevice(till, ingress),
  };
}

async function newDevice(till: Till, ingress: { readonly url: string; readonly ca: string }) {
  const { privateKey, publicKey } = newFactoryKey();
  const label = randomBytes(8).toString('hex').toUpperCase();
  const [id, serial] = [newId('device'), `PLAYER-${label}`];
  const hash = createHash('sha256').update(label).digest('hex');
  // The list of a factory comes by an Internal endpoint, which the gateway does not have.
  await rowsOf(
    till.databases.device ?? '',
    `INSERT INTO devices (id, serial, public_key, key_id, name, created_at, updated_at)
       VALUES ('${id}', '${serial}', '${publicKey}', '${hash}', '${serial}', now(), now());
     INSERT INTO claim_codes (device_id, kind, code_hash) VALUES ('${id}', 'label', '${hash}')`,
  );
  const { owner } = await till.newOwner();
  await owner.call(claimDevice, { body: { claim_code: label } });
  const firmware = createDeviceClient({ ...ingress, serial, factoryKey: readKey(privateKey), timeoutMs: 5_000 });
  return { id, firmware };
}

/** Whether the firmware has a certificate that is in force, having done what firmware does: with 401 it bootstraps again. */
export async function comesBack(firmware: Firmware): Promise<boolean> {
  try {
    if (!firmware.credential) await firmware.bootstrap();
    await firmware.heartbeat({ firmware_version: '1.0.0', uptime_seconds: 1 });
    return true;
  } catch (error) {
    if (error instanceof Refused && error.status === 401) firmware.forget();
    return false;
  }
}
