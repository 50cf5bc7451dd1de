import { endpoints, isRecorded, type ServiceName } from '@attribution/contracts';
import { eventually } from './eventually.ts';
import type { TestService } from './service.ts';
import type { StatementTable } from './statement-counts.ts';

/** The operations of a service whose success is in the audit log. */
const recordedBy = (name: ServiceName): string[] =>
  endpoints.filter((one) => one.service === name && isRecorded(one)).map(({ operation }) => operation);

/** 1 for each operation of the service that is to be recorded. */
export const oneRecordEach = (name: ServiceName): Readonly<Record<string, number>> =>
  Object.fromEntries(recordedBy(name).map((operation) => [operation, 1]));

/** How many audit records one successful call of each of these operations leaves. */
export async function countRecords(
  service: TestService,
  name: ServiceName,
  table: StatementTable,
  count: (operation: string) => Promise<number> = (operation) => recordsOf(service, operation),
) {
  const counted: Record<string, number> = {};
  for (const operation of recordedBy(name)) {
    const send = await table[operation]?.prepare(1);
    const before = await count(operation);
    const answer = await send?.();
    if (answer && answer.status < 300) counted[operation] = (await count(operation)) - before;
  }
  return counted;
}

/** The number of records of an operation that the service has published. */
export async function recordsOf(service: TestService, operation: string): Promise<number> {
  await eventually(async () => {
    const { rows } = await service.db.query("SELECT 1 FROM outbox WHERE topic LIKE '%.audit' LIMIT 1");
    if (rows.length > 0) throw new Error('The outbox is not empty');
  });
  return service.audited.filter(({ action, outcome }) => action === operation && outcome === 'done').length;
}
