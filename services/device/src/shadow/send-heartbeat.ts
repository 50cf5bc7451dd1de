import { deviceReported, sendHeartbeat } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { implementPrepared } from '@attribution/service';
import { lockDevice } from '../devices/index.ts';
import { type Admitted, admitDevice, type Recognition } from '../presence/index.ts';
import { requireDesired } from './report-config.ts';
import { keepHeard, setApplied } from './shadow.store.ts';

/** The version that a device asks with until it knows another one. */
const noManifest = 0;

/** A heartbeat that says nothing new writes nothing but when it was heard. */
export const sendHeartbeatEndpoint = (dependencies: Recognition) =>
  implementPrepared(sendHeartbeat, admitDevice(dependencies, sendHeartbeat.access), async ({ body, prepared }) => {
    const { database, clock } = dependencies;
    const serverTime = clock.now();
    const { firmware_version, manifest_version, applied_version } = body;
    if (applied_version !== undefined) requireDesired(applied_version, prepared.desired_version);
    const news = {
      firmware_version: firmware_version === prepared.firmware_version ? undefined : firmware_version,
      manifest_applied: manifest_version === prepared.manifest_applied ? undefined : manifest_version,
    };
    if (Object.values(news).some((value) => value !== undefined))
      await keepHeard(database.sql, prepared.device_id, news);
    if (applied_version !== undefined && applied_version !== prepared.applied_version)
      await apply(dependencies, prepared, applied_version);
    return {
      server_time: serverTime.toISOString(),
      status: prepared.effectiveStatus,
      desired_version: prepared.desired_version,
      manifest_version: prepared.manifest_version ?? noManifest,
      renew_after: prepared.renew_after.toISOString(),
      heartbeat_interval_seconds: prepared.heartbeat_interval,
    };
  });

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
