import { deviceEndpoints, type Endpoint, endpoints, internalEndpoints, type ServiceName } from '@attribution/contracts';
import type { TestService } from './service.ts';

/** The number of statements that one endpoint sends to the database. */
export interface CountedCall {
  /** The SQL statements of a successful call, including BEGIN and COMMIT, however many rows there are. */
  readonly statements: number;
  /** Prepares the given number of rows, if the endpoint reads several, and returns the call. */
  prepare(rows: number): Promise<() => Promise<{ readonly status: number; readonly body: unknown }>>;
}

/** By operation. */
export type StatementTable = Readonly<Record<string, CountedCall>>;

/** The expected numbers, and the counted ones of each endpoint of the service, both by operation. */
export async function countStatements(service: TestService, name: ServiceName, table: StatementTable, rows: number) {
  const counted: Record<string, number | readonly string[]> = {};
  for (const endpoint of [...endpoints, ...deviceEndpoints, ...internalEndpoints].filter(
    (one) => one.service === name,
  )) {
    const call = table[endpoint.operation];
    const sent = call ? await statementsOf(service, endpoint, call, rows) : ['it is not in the table'];
    // If the number is wrong, the failure shows the statements themselves.
    counted[endpoint.operation] = sent.length === call?.statements ? sent.length : sent;
  }
  return counted;
}

/** The expected numbers in the form of the counted ones. */
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
