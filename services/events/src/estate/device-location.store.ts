import type { SqlTransaction } from '@attribution/database';

interface DeviceLocation {
  readonly account_id: string;
  readonly device_id: string;
  readonly location_id: string;
}

export async function insertDeviceLocations(tx: SqlTransaction, rows: readonly DeviceLocation[]): Promise<void> {
  if (rows.length === 0) return;
  await tx.$executeRawUnsafe(
    `INSERT INTO device_locations (account_id, device_id, location_id)
     SELECT DISTINCT account_id, device_id, location_id
     FROM json_to_recordset($1::json) AS row(account_id text, device_id text, location_id text)
     ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING`,
    JSON.stringify(rows),
  );
}
