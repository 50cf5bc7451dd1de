import { randomBytes } from 'node:crypto';
import { challengeDevice, refusedContact } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { lockDevice } from '../devices/index.ts';
import { addNonce } from './contact.store.ts';
import { createJudge, type Judging } from './judge.ts';

const nonceBytes = 32;
const nonceMs = 5 * 60 * 1000;
/** Of one device, alive at the same time. */
const mostNonces = 5;

export function challengeEndpoint(dependencies: Judging) {
  const judge = createJudge(dependencies);
  return implement(challengeDevice, async ({ body, bytes, headers }) => {
    const { serial } = body;
    const { contact, now } = await judge({ serial, bytes, signature: headers['x-device-signature'] });
    const nonce = randomBytes(nonceBytes).toString('base64url');
    const expiresAt = new Date(now.getTime() + nonceMs);
    await dependencies.database.sqlTransaction(async (tx) => {
      const device = await lockDevice(tx, contact.id);
      if (!device) throw refusedContact();
      await addNonce(tx, { nonce, device_id: contact.id, expires_at: expiresAt }, mostNonces);
    });
    const server_time = dependencies.clock.now().toISOString();
    return { nonce, expires_at: expiresAt.toISOString(), server_time };
  });
}
