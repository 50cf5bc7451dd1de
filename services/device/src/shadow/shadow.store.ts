import type { Sql } from '@attribution/database';
import { db } from '../store.ts';

/** What is desired, and what was reported, of a device. */
export async function findShadow(tx: Sql, deviceId: string) {
  return db(tx)
    .selectFrom('devices')
    .select(['desired', 'desired_version', 'reported', 'reported_version', 'applied_version'])
    .where('id', '=', deviceId)
    .executeTakeFirst();
}

export async function replaceDesired(
  tx: Sql,
  deviceId: string,
  {
    desired,
    desiredVersion,
    heartbeatInterval,
    now,
  }: {
    readonly desired: Record<string, unknown>;
    readonly desiredVersion: number;
    readonly heartbeatInterval: number;
    readonly now: Date;
  },
): Promise<void> {
  await db(tx)
    .updateTable('devices')
    .set({
      desired,
      desired_version: desiredVersion,
      heartbeat_interval: heartbeatInterval,
      updated_at: now,
    })
    .where('id', '=', deviceId)
    .execute();
}

export async function replaceReported(
  tx: Sql,
  deviceId: string,
  report: {
    readonly reported: Record<string, unknown>;
    readonly reportedVersion: number;
    readonly appliedVersion: number;
    readonly desiredVersion: number;
    readonly now: Date;
  },
): Promise<void> {
  await db(tx)
    .updateTable('devices')
    .set({
      reported: report.reported,
      reported_version: report.reportedVersion,
      reported_at: report.now,
      report_applied: report.appliedVersion,
      report_desired: report.desiredVersion,
      applied_version: report.appliedVersion,
      updated_at: report.now,
    })
    .where('id', '=', deviceId)
    .execute();
}

/** What a heartbeat says, where it differs from what is known. */
export interface Heard {
  readonly firmware_version: string | undefined;
  readonly manifest_applied: number | undefined;
}

export async function keepHeard(tx: Sql, deviceId: string, heard: Heard): Promise<void> {
  const { firmware_version, manifest_applied } = heard;
  const set = {
    ...(firmware_version !== undefined && { firmware_version }),
    ...(manifest_applied !== undefined && { manifest_applied }),
  };
  await db(tx).updateTable('devices').set(set).where('id', '=', deviceId).execute();
}

export async function setApplied(tx: Sql, deviceId: string, version: number): Promise<void> {
  await db(tx).updateTable('devices').set({ applied_version: version }).where('id', '=', deviceId).execute();
}
