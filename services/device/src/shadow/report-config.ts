import { isDeepStrictEqual } from 'node:util';
import { deviceReported, Problem, reportConfig, unknownDevice } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { implementPrepared } from '@attribution/service';
import type { z } from 'zod';
import { type DeviceRow, lockDevice } from '../devices/index.ts';
import { admitDevice, type Recognition } from '../presence/index.ts';
import { replaceReported } from './shadow.store.ts';

type Report = z.output<typeof reportConfig.body>;

/** Whether it is the very report that made the present version. */
const isRepeated = (device: DeviceRow, report: Report): boolean =>
  report.reported_version === device.reported_version - 1 &&
  report.applied_version === device.report_applied &&
  isDeepStrictEqual(report.reported, device.reported);

const answerOf = (reportedVersion: number, appliedVersion: number, desiredVersion: number) => ({
  reported_version: reportedVersion,
  applied_version: appliedVersion,
  desired_version: desiredVersion,
  in_sync: appliedVersion === desiredVersion,
});

/** Throws `conflict` for a configuration that nobody has asked for. */
export function requireDesired(applied: number, desired: number): void {
  if (applied > desired)
    throw new Problem('conflict', `body.applied_version: ${applied} is above the desired version ${desired}.`);
}

export const reportConfigEndpoint = (dependencies: Recognition) =>
  implementPrepared(reportConfig, admitDevice(dependencies), async ({ body, prepared }) => {
    const { database, outbox, clock } = dependencies;
    return database.sqlTransaction(async (tx) => {
      const device = await lockDevice(tx, prepared.device_id);
      if (!device?.account_id) throw unknownDevice();
      const { reported_version: current, desired_version: desiredVersion, account_id: accountId } = device;
      if (isRepeated(device, body))
        return answerOf(current, body.applied_version, device.report_desired ?? desiredVersion);
      if (body.reported_version !== current)
        throw new Problem('conflict', `body.reported_version: the current one is ${current}.`);
      requireDesired(body.applied_version, desiredVersion);
      const now = clock.now();
      const [reportedVersion, appliedVersion] = [current + 1, body.applied_version];
      const { reported } = body;
      await replaceReported(tx, device.id, { reported, reportedVersion, appliedVersion, desiredVersion, now });
      const data = {
        device_id: device.id,
        account_id: accountId,
        reported_version: reportedVersion,
        applied_version: appliedVersion,
      };
      await outbox.append(tx, newEvent(deviceReported, data, { accountId, occurredAt: now }));
      return answerOf(reportedVersion, appliedVersion, desiredVersion);
    });
  });
