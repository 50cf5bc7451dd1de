import { type Endpoint, endpoints, internalEndpoints, type ServiceName } from '@attribution/contracts';
import type { TestService } from './service.ts';

/** What one endpoint sends to the database. */
export interface CountedCall {
  /** SQL statements of a call that succeeds, BEGIN and COMMIT among them, however many rows there are. */
  readonly statements: number;
  /** Makes ready for a call that meets so many rows, where the endpoint reads several, and gives the call. */
  prepare(rows: number): Promise<() => Promise<{ readonly status: number; readonly body: unknown }>>;
}

/** By operation. */
export type StatementTable = Readonly<Record<string, CountedCall>>;

/** The numbers of a table, and for each endpoint of the service what is sent; both by operation. */
export async function countStatements(service: TestService, name: ServiceName, table: StatementTable, rows: number) {
  const counted: Record<string, number | readonly string[]> = {};
  for (const endpoint of [...endpoints, ...internalEndpoints].filter((one) => one.service === name)) {
    const call = table[endpoint.operation];
    const sent = call ? await statementsOf(service, endpoint, call, rows) : ['it is not in the table'];
    // The statements themselves tell more where their number is wrong.
    counted[endpoint.operation] = sent.length === call?.statements ? sent.length : sent;
  }
  return counted;
}

/** The table as it is compared with what was counted. */
export const numbersOf = (table: StatementTable) =>
  Object.fromEntries(Object.entries(table).map(([operation, { statements }]) => [operation, statements]));

async function statementsOf(service: TestService, endpoint: Endpoint, call: CountedCall, rows: number) {
  const send = await call.prepare(rows);
  let found = 0;
  const statements = await service.statementsOf(async () => {
    const { status, body } = await send();
    if (status !== endpoint.success.status) throw new Error(`${endpoint.operation} answered ${status}`);
    found = rowsIn(body);
  });
  const isPage = endpoint.query !== undefined && 'limit' in endpoint.query.shape;
  if (isPage && found !== rows) throw new Error(`${endpoint.operation} listed ${found} rows, not ${rows}`);
  return statements;
}

function rowsIn(body: unknown): number {
  const { entries, data } = (body ?? {}) as { entries?: unknown; data?: unknown };
  for (const list of [body, entries, data]) if (Array.isArray(list)) return list.length;
  return 0;
}
