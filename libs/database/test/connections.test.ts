import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { openDatabase, type PrismaLike, type SqlTransaction, withAdvisoryLock } from '../src/index.ts';

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function message(type: string, ...parts: (string | number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from(type), length, content]);
}

/** A server that accepts a login and closes the connection right after it, as one that shuts down may. */
async function startEndingServer() {
  const error = ['SFATAL\0', 'VFATAL\0', 'C57P01\0', 'Mterminating connection due to administrator command\0', '\0'];
  const answer = Buffer.concat([message('R', [0, 0, 0, 0]), message('Z', 'I'), message('E', ...error)]);
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.once('data', () => socket.write(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, url: `postgresql://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/none` };
}

/** This test makes no queries through Prisma. */
const noClient = () => ({ $disconnect: async () => {} }) as unknown as PrismaLike<SqlTransaction>;

test('a connection that breaks at the moment of its use fails the query, and not the process', async () => {
  const { server, url } = await startEndingServer();
  const database = openDatabase({ url }, noClient);
  const held = withAdvisoryLock(database.pool, 'any', async () => 'held');
  await expect(held).rejects.toThrow(/connection/);
  await expect(database.ping()).rejects.toThrow(/connection/);
  for (const socket of sockets) socket.end();
  await database.close();
  server.close();
});
