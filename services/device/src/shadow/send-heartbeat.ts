import { deviceReported, sendHeartbeat } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { implementPrepared } from '@attribution/service';
import type { z } from 'zod';
import { lockDevice } from '../devices/index.ts';
import { type Admitted, admitDevice, type Recognition } from '../presence/index.ts';
import { requireDesired } from './report-config.ts';
import { keepHeard, setApplied } from './shadow.store.ts';

type Heartbeat = z.output<typeof sendHeartbeat.body>;
type Answer = z.output<typeof sendHeartbeat.success.body>;

/** The version that a device asks with until it knows another one. */
const noManifest = 0;

export const sendHeartbeatEndpoint = (dependencies: Recognition) =>
  implementPrepared(sendHeartbeat, admitDevice(dependencies, sendHeartbeat.access), ({ body, prepared }) =>
    answerHeartbeat(dependencies, prepared, body),
  );

/** A heartbeat that says nothing new writes nothing but when it was heard, which has been done. */
export async function answerHeartbeat(dependencies: Recognition, known: Admitted, body: Heartbeat): Promise<Answer> {
  const { database, clock } = dependencies;
  const serverTime = clock.now();
  const { firmware_version, manifest_version, applied_version } = body;
  if (applied_version !== undefined) requireDesired(applied_version, known.desired_version);
  const news = {
    firmware_version: firmware_version === known.firmware_version ? undefined : firmware_version,
    manifest_applied: manifest_version === known.manifest_applied ? undefined : manifest_version,
  };
  if (Object.values(news).some((value) => value !== undefined)) await keepHeard(database.sql, known.device_id, news);
  if (applied_version !== undefined && applied_version !== known.applied_version)
    await apply(dependencies, known, applied_version);
  return {
    server_time: serverTime.toISOString(),
    status: known.effectiveStatus,
    desired_version: known.desired_version,
    manifest_version: known.manifest_version ?? noManifest,
    renew_after: known.renew_after.toISOString(),
    heartbeat_interval_seconds: known.heartbeat_interval,
  };
}

/** Another desired version is in force, as if it had been reported. */
async function apply({ database, outbox, clock }: Recognition, { device_id }: Admitted, version: number) {
  await database.sqlTransaction(async (tx) => {
    const device = await lockDevice(tx, device_id);
    if (!device?.account_id || device.applied_version === version) return;
    requireDesired(version, device.desired_version);
    await setApplied(tx, device_id, version);
    const { account_id, reported_version } = device;
    const data = { device_id, account_id, reported_version, applied_version: version };
    await outbox.append(tx, newEvent(deviceReported, data, { accountId: account_id, occurredAt: clock.now() }));
  });
}
