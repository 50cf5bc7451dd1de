import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { eventually, personToken } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import {
  type Respond,
  range,
  startGateway,
  startTcpUpstream,
  startUpstream,
  type TestGateway,
  type Upstream,
} from './support.ts';

const token = personToken();
const path = '/v2/campaigns';
const soon = () => Date.now() + 10_000;

async function open(respond: Respond): Promise<{ upstream: Upstream; gateway: TestGateway }> {
  const upstream = await startUpstream(respond);
  return { upstream, gateway: await startGateway(upstream) };
}

/** Resolves when the port refuses connections. From then on responses say `Connection: close`. */
const refused = ({ port }: TestGateway) =>
  eventually(() => expect(once(connect(port), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' }), 1_000);

/** A client with one keep-alive connection of its own. */
function client(gateway: TestGateway) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    async get(): Promise<{ status: number | undefined; connection: string | undefined; body: string }> {
      const headers = { authorization: `Bearer ${token}` };
      const [res] = (await once(request({ port: gateway.port, path, agent, headers }).end(), 'response')) as [
        IncomingMessage,
      ];
      let body = '';
      for await (const chunk of res) body += String(chunk);
      return { status: res.statusCode, connection: res.headers.connection, body };
    },
    leave: () => agent.destroy(),
  };
}

test('all requests in progress get their responses during close, and then their connections end', async () => {
  const gate = Promise.withResolvers<void>();
  const { upstream, gateway } = await open(async (res) => {
    await gate.promise;
    res.end('done');
  });
  const clients = range(20).map(() => client(gateway));
  const answers = clients.map(({ get }) => get());
  await eventually(() => expect(upstream.seen).toHaveLength(20));
  const stopped = gateway.stop(soon());
  await refused(gateway);
  gate.resolve();
  for (const answer of await Promise.all(answers))
    expect(answer).toEqual({ status: 200, connection: 'close', body: 'done' });
  await stopped;
  for (const { leave } of clients) leave();
  await upstream.stop();
});

test('requests that arrive on kept connections during close are served with Connection: close', async () => {
  const { upstream, gateway } = await open((res) => void res.end('done'));
  const clients = range(20).map(() => client(gateway));
  for (const { get } of clients) expect(await get()).toMatchObject({ status: 200, connection: 'keep-alive' });
  const stopped = gateway.stop(soon());
  await refused(gateway);
  const answers = await Promise.all(clients.map(({ get }) => get()));
  for (const answer of answers) expect(answer).toEqual({ status: 200, connection: 'close', body: 'done' });
  await stopped;
  for (const { leave } of clients) leave();
  await upstream.stop();
});

test('clients that send request after request throughout close lose no response', async () => {
  const { upstream, gateway } = await open(async (res) => {
    await new Promise((resolve) => setImmediate(resolve));
    res.end('done');
  });
  let stopping = false;
  const endings = range(20).map(async () => {
    const { get, leave } = client(gateway);
    try {
      for (;;) expect(await get()).toMatchObject({ status: 200, body: 'done' });
    } catch (error) {
      leave();
      return { stopping, code: (error as { code?: string }).code ?? error };
    }
  });
  await eventually(() => expect(upstream.seen.length).toBeGreaterThan(100));
  stopping = true;
  await gateway.stop(soon());
  // Each client ends when it cannot open a connection: no request was accepted and then lost.
  expect(await Promise.all(endings)).toEqual(range(20).map(() => ({ stopping: true, code: 'ECONNREFUSED' })));
  await upstream.stop();
});

test('a response that is being streamed is completed', async () => {
  const gate = Promise.withResolvers<void>();
  const { upstream, gateway } = await open(async (res) => {
    res.write('first,');
    await gate.promise;
    res.end('second');
  });
  const req = request({ port: gateway.port, path, headers: { authorization: `Bearer ${token}` } }).end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const stopped = gateway.stop(soon());
  gate.resolve();
  let body = '';
  for await (const chunk of res) body += String(chunk);
  expect(body).toBe('first,second');
  await stopped;
  await upstream.stop();
});

test('a body that is still arriving is received completely', async () => {
  const { upstream, gateway } = await open((res, { body }) => void res.end(body));
  const req = request({ port: gateway.port, path, method: 'POST', headers: { authorization: `Bearer ${token}` } });
  req.write('first,');
  await eventually(() => expect(upstream.started).toHaveLength(1));
  const stopped = gateway.stop(soon());
  await refused(gateway);
  req.end('second');
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  expect(res.headers.connection).toBe('close');
  let body = '';
  for await (const chunk of res) body += String(chunk);
  expect(body).toBe('first,second');
  await stopped;
  await upstream.stop();
});

test('new connections are refused soon after the start of close', async () => {
  const { upstream, gateway } = await open((res) => void res.end());
  const stopped = gateway.stop(soon());
  await refused(gateway);
  await stopped;
  await upstream.stop();
});

test('a service that hangs delays close until its deadline and no longer', async () => {
  const upstream = await startTcpUpstream(() => {});
  const gateway = await startGateway(upstream);
  const asking = client(gateway).get();
  const lost = expect(asking).rejects.toMatchObject({ code: 'ECONNRESET' });
  await eventually(() => expect(upstream.connections.open).toBe(1));
  await gateway.stop(Date.now() + 500);
  await lost;
  await eventually(() => expect(upstream.connections.open).toBe(0));
  await upstream.stop();
});

test('clients that have disconnected do not delay close, not even with pipelined requests', async () => {
  const { upstream, gateway } = await open(() => {});
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(5));
  await eventually(() => expect(upstream.seen).toHaveLength(5));
  socket.destroy();
  await eventually(() => expect(upstream.connections.open).toBe(0));
  // Far longer than a test may take: close must not wait for this deadline.
  await gateway.stop(Date.now() + 600_000);
  await upstream.stop();
});

test('after close no connection to a service is open', async () => {
  const { upstream, gateway } = await open((res) => void res.end());
  await Promise.all(range(20).map(() => gateway.send(path, { token })));
  expect(upstream.connections.open).toBeGreaterThan(0);
  await gateway.stop(soon());
  await eventually(() => expect(upstream.connections.open).toBe(0));
  await upstream.stop();
});
