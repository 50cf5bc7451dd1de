import { type Authority, signingOf } from '@attribution/certificates';
import { bootstrapDevice, Problem, refusedContact } from '@attribution/contracts';
import type { Outbox } from '@attribution/messaging';
import { Chosen, implement } from '@attribution/service';
import { createIssueNext, usableCsr } from '../certificates/index.ts';
import { ensureScreenCode, showScreenCode } from '../claims/index.ts';
import { lockDevice } from '../devices/index.ts';
import type { DeviceDatabase } from '../store.ts';
import { spendNonce } from './contact.store.ts';
import { createJudge, type Judged, type Judging } from './judge.ts';

/** Seconds until an unclaimed device asks again. */
const retryAfter = 30;
/** Each is lost to somebody else who has changed the device, and it has five nonces at most. */
const mostAttempts = 10;

interface Dependencies extends Judging {
  readonly outbox: Outbox;
  readonly authority: () => Authority;
}

export function bootstrapEndpoint(dependencies: Dependencies) {
  const { database, authority } = dependencies;
  const judge = createJudge(dependencies);
  const issueNext = createIssueNext(dependencies, 'nonce');

  return implement(bootstrapDevice, async ({ body, bytes, headers }) => {
    const key = usableCsr(body.csr);
    const signature = headers['x-device-signature'];
    const request = { ...body, bytes, signature };
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const { contact, now } = await judge(request);
      const wanted = { signing: signingOf(authority()), key, proof: body.nonce, now };
      const { account_id } = contact;
      const answer =
        account_id === null
          ? await showCode(database, { contact, now }, body.nonce)
          : await issueNext({ ...contact, account_id }, wanted);
      // Without an answer the device has just changed, or its nonce was used.
      if (answer) return answer;
    }
    throw new Problem('unavailable', 'The device is changing. Try again.', { 'retry-after': '1' });
  });
}

/** What an unclaimed device shows. Undefined if it has just been claimed. */
const showCode = (database: DeviceDatabase, { contact, now }: Judged, nonce: string) =>
  database.sqlTransaction(async (tx) => {
    const device = await lockDevice(tx, contact.id);
    if (device?.status !== 'manufactured') return undefined;
    if (!(await spendNonce(tx, nonce, device.id, now))) throw refusedContact();
    const { code, expires_at } = await ensureScreenCode(tx, device.id, now);
    return Chosen.otherwise<typeof bootstrapDevice>(
      {
        status: 'unclaimed',
        claim_code: showScreenCode(code),
        claim_code_expires_at: expires_at.toISOString(),
        retry_after: retryAfter,
        server_time: now.toISOString(),
      },
      { 'retry-after': `${retryAfter}` },
    );
  });
