import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openDatabase, type PrismaLike, type SqlTransaction } from '../src/index.ts';
import { openThings } from './support.ts';

/** Forwards connections to a server, and can hold back the bytes in each direction. */
async function startPassage(url: string) {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let silent = false;
  const server = createServer((client) => {
    const onward = connect(Number(port), hostname);
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ] as const) {
      sockets.add(from);
      from.on('data', (chunk) => to.write(chunk));
      from.on('close', () => sockets.delete(from) && to.destroy());
      from.on('error', () => {});
      if (silent) from.pause();
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: through.href,
    fallSilent() {
      silent = true;
      for (const socket of sockets) socket.pause();
    },
    speak() {
      silent = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Milliseconds. The client gives up on an unresponsive server a second later. */
const statementTimeout = 200;

let passage: Awaited<ReturnType<typeof startPassage>>;
let database: Awaited<ReturnType<typeof openThings>>;
beforeEach(async () => {
  const through = async (url: string) => {
    passage = await startPassage(url);
    return passage.url;
  };
  database = await openThings({ statementTimeout, poolSize: 1 }, through);
});
afterEach(async () => {
  passage.speak();
  await database.drop();
  passage.close();
});

const sizes = async () =>
  (await database.pool.query<{ size: number }>('SELECT size FROM things ORDER BY id')).rows.map(({ size }) => size);

test('a statement that takes too long is cancelled by the server, and its connection is used again', async () => {
  const pid = async () => (await database.pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
  const before = await pid();
  const slow = database.transaction((tx) => Promise.resolve(tx.$queryRawUnsafe('SELECT 1 FROM pg_sleep(20)')));
  await expect(slow).rejects.toThrow(/statement timeout/);
  expect(await pid()).toBe(before);
});

test('an unresponsive server fails a query in bounded time, and the connection is replaced', async () => {
  passage.fallSilent();
  const asked = Date.now();
  await expect(database.prisma.thing.findUniqueOrThrow({ where: { id: 1 } })).rejects.toThrow(/timeout/);
  expect(Date.now() - asked).toBeLessThan(statementTimeout + 3_000);
  passage.speak();
  await eventually(async () => expect(await sizes()).toEqual([0, 0]));
});

test('a transaction that ended in a timeout leaves nothing that the next one would commit', async () => {
  const asked = Date.now();
  const cut = database.transaction(async (tx) => {
    await tx.thing.update({ where: { id: 1 }, data: { size: 5 } });
    passage.fallSilent();
    await tx.thing.update({ where: { id: 2 }, data: { size: 5 } });
  });
  await expect(cut).rejects.toThrow();
  // The rollback must not wait for a response as well.
  expect(Date.now() - asked).toBeLessThan(statementTimeout + 1_900);
  passage.speak();
  await eventually(() => database.transaction((tx) => tx.thing.update({ where: { id: 2 }, data: { size: 7 } })));
  expect(await sizes()).toEqual([0, 7]);
});

test('a database whose server is unresponsive can be closed', async () => {
  const noClient = () => ({ $disconnect: async () => {} }) as unknown as PrismaLike<SqlTransaction>;
  const other = openDatabase({ url: passage.url, statementTimeout }, noClient);
  await other.ping();
  passage.fallSilent();
  const closing = Date.now();
  await other.close();
  expect(Date.now() - closing).toBeLessThan(4_000);
});

test('the server’s settings end connections of vanished clients, and idle transactions', async () => {
  const show = async (name: string) => Object.values((await database.pool.query(`SHOW ${name}`)).rows[0] as object)[0];
  expect(await show('tcp_keepalives_idle')).toBe('15');
  expect(await show('idle_in_transaction_session_timeout')).toBe('20s');
  expect(await show('statement_timeout')).toBe(`${statementTimeout}ms`);
});
