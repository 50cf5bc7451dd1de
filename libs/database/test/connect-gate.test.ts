import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, testServers } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openDatabase, type PrismaLike, type SqlTransaction } from '../src/index.ts';

const startingUp = 'the database system is starting up';

function errorMessage(code: string, text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(fields.length + 4);
  return Buffer.concat([Buffer.from('E'), length, fields]);
}

/** Refuses connections as a server that recovers does, or forwards them to the one of the tests. */
async function startRecoveringServer() {
  const sockets = new Set<Socket>();
  const target = new URL(testServers.postgresUrl());
  const state = { ready: false, attempts: 0, latencyMs: 0 };
  const server = createServer((client) => {
    state.attempts++;
    const keep = (socket: Socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => sockets.delete(socket));
    };
    keep(client);
    if (state.ready) {
      const onward = connect(Number(target.port), target.hostname);
      keep(onward);
      client.pipe(onward).pipe(client);
      return;
    }
    client.once('data', async () => {
      await sleep(state.latencyMs);
      client.end(errorMessage('57P03', startingUp));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    state,
    url: url.href,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** This test makes no queries through Prisma. */
const noClient = () => ({ $disconnect: async () => {} }) as unknown as PrismaLike<SqlTransaction>;

let server: Awaited<ReturnType<typeof startRecoveringServer>>;
let database: ReturnType<typeof openDatabase>;
beforeEach(async () => {
  server = await startRecoveringServer();
  database = openDatabase({ url: server.url, poolSize: 5 }, noClient);
});
afterEach(async () => {
  await database.close();
  server.close();
});

/** `count` queries at once. Resolves with how many there were of each outcome. */
async function ask(count: number): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  const note = (outcome: string) => {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  const asked = Array.from({ length: count }, () =>
    database.ping().then(
      () => 'answered',
      ({ message }) => message,
    ),
  );
  for (const outcome of await Promise.all(asked)) note(outcome);
  return outcomes;
}

test('a server that recovers gets a few connections of a pool, however many queries want one, and each query the error', async () => {
  const began = performance.now();
  let queries = 0;
  for (; queries < 1_000 || performance.now() - began < 500; queries += 20) {
    expect(await ask(20)).toEqual({ [startingUp]: 20 });
    await sleep(1);
  }
  // At first as many as the pool may have. Pauses between further ones last at least 25, 50, 100 ms and so on.
  const ms = performance.now() - began;
  expect(server.state.attempts).toBeLessThanOrEqual(5 + 1 + Math.log2(1 + ms / 25) + ms / 500);
  expect(server.state.attempts).toBeGreaterThanOrEqual(7);
});

test('queries are answered soon after the server accepts connections, by as many connections as they need', async () => {
  for (const end = performance.now() + 300; performance.now() < end; await sleep(5)) await ask(10);
  server.state.ready = true;
  await eventually(async () => expect(await ask(10)).toEqual({ answered: 10 }));
  expect(await ask(50)).toEqual({ answered: 50 });
  expect(database.pool.totalCount).toBe(5);
});

test('queries wait for the attempt that finds out whether the server accepts connections, and are answered after it', async () => {
  expect(await ask(1)).toEqual({ [startingUp]: 1 });
  await sleep(60); // Longer than the first pause.
  server.state.ready = true;
  expect(await ask(20)).toEqual({ answered: 20 });
});

test('queries that wait for an attempt that fails get its error, without attempts of their own', async () => {
  expect(await ask(1)).toEqual({ [startingUp]: 1 });
  await sleep(60);
  server.state.latencyMs = 100;
  expect(await ask(4)).toEqual({ [startingUp]: 4 });
  expect(server.state.attempts).toBe(2);
});
