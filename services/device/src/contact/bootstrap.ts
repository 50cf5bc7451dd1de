import { type Authority, signingOf } from '@attribution/certificates';
import { bootstrapDevice, deviceActivated, refusedContact } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { newEvent, type Outbox } from '@attribution/messaging';
import { Chosen, implement } from '@attribution/service';
import { issueNext, usableCsr } from '../certificates/index.ts';
import { ensureScreenCode, showScreenCode } from '../claims/index.ts';
import { activate, type DeviceRow, lockDevice } from '../devices/index.ts';
import { spendNonce } from './contact.store.ts';
import { type Judging, judge } from './judge.ts';

/** Seconds until an unclaimed device asks again. */
const retryAfter = 30;

interface Dependencies extends Judging {
  readonly outbox: Outbox;
  readonly authority: () => Authority;
}

export const bootstrapEndpoint = (dependencies: Dependencies) =>
  implement(bootstrapDevice, async ({ body, bytes, headers }) => {
    const { database, outbox, authority } = dependencies;
    const key = usableCsr(body.csr);
    const signature = headers['x-device-signature'];
    const { contact, now } = await judge(dependencies, { ...body, bytes, signature });
    const signing = signingOf(authority());

    async function answer(tx: Sql, device: DeviceRow) {
      if (device.status === 'manufactured') {
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
      }
      const accountId = device.account_id ?? '';
      const issued = await issueNext(tx, { ...device, account_id: accountId }, { signing, key, now });
      const activated = device.status === 'claimed';
      if (activated) await activate(tx, device.id, now);
      const about = { device_id: device.id, account_id: accountId };
      const told = activated ? [newEvent(deviceActivated, about, { accountId, occurredAt: now })] : [];
      await outbox.append(tx, ...told, ...issued.events);
      return issued.answer;
    }

    return database.sqlTransaction(async (tx) => {
      const device = await lockDevice(tx, contact.id);
      const may = device && device.status !== 'suspended' && device.status !== 'retired';
      if (!may || !(await spendNonce(tx, body.nonce, device.id, now))) throw refusedContact();
      return answer(tx, device);
    });
  });
