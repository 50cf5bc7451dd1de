import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { startBalancer } from '../src/balancer.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

interface Replica {
  readonly server: Server;
  readonly port: number;
  readonly url: string;
  ready: boolean;
  /** Whether it answers readiness checks at all. */
  answers: boolean;
  /** How long its readiness check takes. */
  delayMs: number;
}

async function startReplica(name: string): Promise<Replica> {
  const server = createServer(async (req, res) => {
    if (req.url === '/readyz') await sleep(replica.delayMs);
    if (req.url === '/readyz' && !replica.answers) return void req.socket.destroy();
    res.statusCode = req.url === '/readyz' && !replica.ready ? 503 : 200;
    res.setHeader('connection', 'close').end(name);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const replica: Replica = { server, port, url: `http://127.0.0.1:${port}`, ready: true, answers: true, delayMs: 0 };
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return replica;
}

async function startBefore(...replicas: Replica[]): Promise<() => Promise<string>> {
  const balancer = await startBalancer(0, replicas);
  closing.push(() => balancer.stop());
  return async () => (await fetch(balancer.url)).text();
}

test('connections are distributed among the replicas that are ready', async () => {
  const ask = await startBefore(await startReplica('a'), await startReplica('b'));
  await eventually(async () => expect([await ask(), await ask()].toSorted()).toEqual(['a', 'b']));
});

test('a replica that is no longer ready gets no new connections', async () => {
  const leaving = await startReplica('a');
  const ask = await startBefore(leaving, await startReplica('b'));
  await eventually(async () => expect([await ask(), await ask()].toSorted()).toEqual(['a', 'b']));
  leaving.ready = false;
  await eventually(async () => expect([await ask(), await ask(), await ask()]).toEqual(['b', 'b', 'b']));
});

test('a replica whose readiness check takes two seconds still gets connections, as on a busy machine', async () => {
  const busy = await startReplica('a');
  const ask = await startBefore(busy);
  await eventually(async () => expect(await ask()).toBe('a'));
  busy.delayMs = 2_000;
  for (const end = Date.now() + 2_500; Date.now() < end; await sleep(50)) expect(await ask()).toBe('a');
});

test('a replica that answers no readiness check gets no connections while another is ready, and gets them when none is', async () => {
  const [silent, other] = [await startReplica('a'), await startReplica('b')];
  const ask = await startBefore(silent, other);
  await eventually(async () => expect([await ask(), await ask()].toSorted()).toEqual(['a', 'b']));
  silent.answers = false;
  await eventually(async () => expect([await ask(), await ask()]).toEqual(['b', 'b']));
  other.ready = false;
  await eventually(async () => expect([await ask(), await ask()]).toEqual(['a', 'a']));
});

test('a replica that has just stopped is skipped, and no connection is lost', async () => {
  const stopped = await startReplica('a');
  const ask = await startBefore(stopped, await startReplica('b'));
  await eventually(async () => expect([await ask(), await ask()].toSorted()).toEqual(['a', 'b']));
  stopped.server.close();
  stopped.server.closeAllConnections();
  for (let n = 0; n < 4; n++) expect(await ask()).toBe('b');
});

test('when no replica is ready a connection is closed, and a later one succeeds', async () => {
  const late = await startReplica('a');
  late.ready = false;
  const ask = await startBefore(late);
  await expect(ask()).rejects.toThrow('fetch failed');
  late.ready = true;
  await eventually(async () => expect(await ask()).toBe('a'));
});
