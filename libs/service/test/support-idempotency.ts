import { createVerifier } from '@attribution/auth';
import type { Sql, SqlTransaction } from '@attribution/database';
import { listen } from '@attribution/http';
import { newId } from '@attribution/ids';
import { createInProcessTransport } from '@attribution/messaging';
import {
  captureLogs,
  createTestClock,
  createTestDatabase,
  openBareDatabase,
  personToken,
  problemBase,
  testInternal,
  testKeys,
} from '@attribution/testing';
import pg from 'pg';
import { z } from 'zod';
import { implement, implementWrite, openService, type WriteTransaction } from '../src/index.ts';
import { type Answered, declare, json, send, thingId } from './support.ts';

const made = {
  status: 201,
  description: '',
  body: z.object({ id: z.string(), name: z.string(), size: z.int() }),
} as const;
const body = z.object({ name: z.string(), size: z.int().default(1) });
type Sent = z.output<typeof body>;
const access = { credential: 'any' } as const;
const create = declare({
  operation: 'create',
  method: 'POST',
  path: '/v2/things',
  access,
  body,
  idempotent: true,
  success: made,
});
const copy = declare({ ...create, operation: 'copy', path: '/v2/things/{id}/copies', params: thingId });
const secret = declare({ ...create, operation: 'secret', path: '/v2/secrets', idempotent: 'secret' });
const quiet = declare({ ...create, operation: 'quiet', path: '/v2/quiet', success: { status: 204, description: '' } });
const careless = declare({ ...create, operation: 'careless', path: '/v2/careless' });
const twice = declare({ ...create, operation: 'twice', path: '/v2/twice' });
const order = declare({ ...create, operation: 'order', path: '/v2/orders', external: true });
const secretOrder = declare({ ...order, operation: 'secret_order', path: '/v2/secret-orders', idempotent: 'secret' });
const quietOrder = declare({
  ...order,
  operation: 'quiet_order',
  path: '/v2/quiet-orders',
  success: { status: 204, description: '' },
});
const load = declare({
  operation: 'load',
  method: 'POST',
  path: '/v2/loads',
  access,
  upload: { media: ['text/csv', 'application/x-ndjson'], max_bytes: 1000 },
  idempotent: true,
  success: made,
});
const plain = declare({ operation: 'plain', method: 'POST', path: '/v2/plain', access, body, success: made });

export const account = newId('account');
const ada = personToken({ account });

interface Request {
  readonly path?: string;
  readonly token?: string;
  readonly key?: string | string[];
  readonly sent?: string;
  readonly media?: string;
}

/** A service whose endpoints each make a thing, in one transaction or in another system, and accept an `Idempotency-Key`. */
export async function startKeyedService() {
  const clock = createTestClock();
  const logs = captureLogs();
  const database = await createTestDatabase('organization');
  const pool = new pg.Pool({ connectionString: database.url });
  pool.on('error', () => {}); // The database is dropped while connections are idle.
  await pool.query('CREATE TABLE things (id text PRIMARY KEY, name text NOT NULL, size int NOT NULL)');
  const opened = openService(
    'organization',
    {
      databaseUrl: database.url,
      transport: createInProcessTransport(),
      verifier: createVerifier(testKeys.public),
      internal: testInternal('organization'),
      logger: logs.logger,
      problemBase,
      checkAnswers: true,
      clock,
    },
    openBareDatabase,
  );
  /** Called in each attempt of a transaction, after its row is written. */
  let meanwhile: (tx: SqlTransaction) => unknown = () => {};
  const { sqlTransaction } = opened.database;
  const insert =
    ({ size, name }: Sent) =>
    async (tx: Sql) => {
      const thing = { size, name, id: newId('campaign') };
      await tx.$executeRaw`INSERT INTO things VALUES (${thing.id}, ${thing.name}, ${thing.size})`;
      await meanwhile(tx);
      return thing;
    };
  type Keyed = { body: Sent; transaction: WriteTransaction<Sql> };
  const make = async ({ body, transaction }: Keyed) => transaction(insert(body));
  /** The other system that `external` endpoints call. It makes one thing for each attempt. */
  const elsewhere = new Map<string, { id: string; name: string; size: number }>();
  let asked: string[] = [];
  let around: { before?: () => unknown; after?: () => unknown } = {};
  async function ask({ body, attempt }: { body: Sent; attempt: string }) {
    asked.push(attempt);
    await around.before?.();
    const thing = elsewhere.get(attempt) ?? { ...body, id: newId('campaign') };
    elsewhere.set(attempt, thing);
    await around.after?.();
    return thing;
  }
  const service = opened.assemble({
    publishes: [],
    implementations: [
      implementWrite(create, sqlTransaction, make),
      implementWrite(copy, sqlTransaction, make),
      implementWrite(secret, sqlTransaction, make),
      implementWrite(quiet, sqlTransaction, async ({ body, transaction }) =>
        transaction(async (tx) => void (await insert(body)(tx))),
      ),
      // The cast defeats the types, which let a handler return nothing but its transaction's result.
      implementWrite(careless, sqlTransaction, async (input) => ({ ...(await make(input)).result }) as never),
      implementWrite(twice, sqlTransaction, async (input) => {
        await make(input);
        return make(input);
      }),
      implementWrite(plain, sqlTransaction, make),
      implementWrite(load, sqlTransaction, async ({ upload, transaction }) => {
        let name = '';
        for await (const chunk of upload.read()) name += chunk.toString();
        return make({ body: { name, size: upload.bytes }, transaction });
      }),
      implement(order, ask),
      implement(secretOrder, ask),
      implement(quietOrder, (input) => ask(input).then(() => {}) as never),
    ],
  });
  service.start();
  const server = await listen(service.app, { host: '127.0.0.1', port: 0, problemBase });

  return {
    port: server.port,
    clock,
    logs,
    pool,
    wake: opened.wake,
    during(work: typeof meanwhile) {
      meanwhile = work;
    },
    /** Sets what happens before and after the other system makes a thing. */
    around(work: typeof around) {
      around = work;
    },
    /** The attempts of the calls to the other system. */
    asked: () => [...asked],
    /** How many things the other system made. */
    made: () => elsewhere.size,
    post: ({
      path = '/v2/things',
      token = ada,
      key = 'a-key',
      sent = '{"name":"one"}',
      media = json['content-type'],
    }: Request = {}): Promise<Answered> =>
      send(server.port, path, {
        method: 'POST',
        headers: { 'content-type': media, authorization: `Bearer ${token}`, 'idempotency-key': key },
        body: sent,
      }),
    countOf: async (table: 'things' | 'idempotency_keys') => (await pool.query(`SELECT 1 FROM ${table}`)).rowCount,
    async empty() {
      meanwhile = () => {};
      around = {};
      asked = [];
      elsewhere.clear();
      await pool.query('TRUNCATE things, idempotency_keys');
    },
    async stop() {
      await server.close(Date.now() + 2_000);
      await service.drain(Date.now() + 2_000);
      await service.close();
      await pool.end();
      await database.drop();
    },
  };
}
