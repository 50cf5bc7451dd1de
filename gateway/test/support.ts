import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { ProblemDetails, type ProblemKind, problemKinds } from '@attribution/contracts';
import { keepAlive, listen } from '@attribution/http';
import { captureLogs, problemBase, testKeys, testServers } from '@attribution/testing';
import type { Tracing } from '@attribution/tracing';
import { expect, test } from '@jest/globals';
import { createGateway, type Gateway, readGatewaySettings, upstreamsAt } from '../src/index.ts';

/** A request as a service received it. */
export interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface TcpUpstream {
  readonly url: string;
  /** How many connections were accepted, and how many are open now. */
  readonly connections: { accepted: number; open: number };
  stop(): Promise<void>;
}

export interface Upstream extends TcpUpstream {
  /** Requests whose head has arrived, even if their body has not. */
  readonly started: IncomingMessage[];
  /** Requests that have arrived completely. */
  readonly seen: Seen[];
}

export type Respond = (res: ServerResponse, seen: Seen) => void | Promise<void>;

const respondWithJson: Respond = (res) => void res.setHeader('content-type', 'application/json').end('{"ok":true}');

/** A service that records the requests which reach it and responds as the test says. */
export async function startUpstream(respond: Respond = respondWithJson, port = 0): Promise<Upstream> {
  const started: IncomingMessage[] = [];
  const seen: Seen[] = [];
  const server = createServer(async (req, res) => {
    started.push(req);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk as Buffer);
    } catch {
      return; // The gateway has aborted the request.
    }
    const { method = '', url = '', headers } = req;
    const request = { method, url, headers, body: Buffer.concat(chunks) };
    seen.push(request);
    await respond(res, request);
  });
  Object.assign(server, keepAlive); // As in real services, so that this end does not close a connection that the gateway leaks.
  return { ...(await run(server, port)), started, seen };
}

/** A TCP server: the test itself writes the bytes of each response. */
export function startTcpUpstream(onConnection: (socket: Socket) => void): Promise<TcpUpstream> {
  return run(createTcpServer((socket) => onConnection(socket.on('error', () => {}).resume())));
}

async function run(server: Server, port = 0): Promise<TcpUpstream> {
  const sockets = new Set<Socket>();
  const connections = { accepted: 0, open: 0 };
  server.on('connection', (socket: Socket) => {
    connections.accepted++;
    connections.open = sockets.add(socket).size;
    socket.on('close', () => {
      sockets.delete(socket);
      connections.open = sockets.size;
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Sending {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  /** The client's address, sent as a trusted proxy sends it. */
  readonly ip?: string;
  readonly token?: string;
}

export interface TestGateway {
  readonly port: number;
  readonly url: string;
  readonly logs: ReturnType<typeof captureLogs>;
  /** Sends a path without normalizing it, over keep-alive connections. */
  send(path: string, sending?: Sending): Promise<Reply>;
  /** Writes bytes (latin1) to a new connection, and resolves with everything received when it has closed. */
  raw(bytes: string): Promise<string>;
  /** The sum of a counter over its labels. */
  count(metric: string): Promise<number>;
  /** All metrics of the gateway. */
  metrics(): ReturnType<Gateway['registry']['getMetricsAsJSON']>;
  /** Makes `/readyz` fail, as before a stop. */
  retire(): void;
  /** Stops the gateway as its process does. */
  stop(deadline?: number): Promise<void>;
}

/** Starts a gateway in front of one upstream, which stands for all services. */
export async function startGateway(
  upstream: { url: string },
  environment: Record<string, string> = {},
  { tracing, ...listening }: { readonly tracing?: Tracing; readonly clientTimeout?: number } = {},
): Promise<TestGateway> {
  const logs = captureLogs('gateway');
  const { url } = upstream;
  const gateway = createGateway(
    readGatewaySettings({
      ...upstreamsAt(() => url),
      TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public),
      PROBLEM_BASE: problemBase,
      ...environment,
    }),
    logs.logger,
    { tracing },
  );
  const { connectionCap } = gateway;
  const server = await listen(gateway.handle, { host: '127.0.0.1', port: 0, problemBase, connectionCap, ...listening });
  const { port } = server;
  const agent = new Agent({ keepAlive: true });
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    logs,
    send: (path, sending = {}) => send({ port, agent, path }, sending),
    raw: (bytes) => exchange(port, bytes),
    async count(metric) {
      const found = await gateway.registry.getSingleMetric(metric)?.get();
      return (found?.values ?? []).reduce((sum, { value }) => sum + value, 0);
    },
    metrics: () => gateway.registry.getMetricsAsJSON(),
    retire: () => gateway.retire(),
    async stop(deadline = 0) {
      agent.destroy();
      await server.close(deadline);
      await gateway.close();
    },
  };
}

async function send(
  to: { port: number; agent: Agent; path: string },
  { method = 'GET', headers, body, ip, token }: Sending,
): Promise<Reply> {
  const req = request({
    ...to,
    method,
    headers: { ...headers, ...(ip && { 'x-forwarded-for': ip }), ...(token && { authorization: `Bearer ${token}` }) },
  });
  req.end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  return { status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks) };
}

async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  socket.on('error', () => {}); // A connection that is cut is a valid outcome.
  socket.write(bytes, 'latin1');
  await new Promise((resolve) => socket.on('close', resolve));
  return text;
}

/** Asserts that a response is this problem, as spec §7 defines it. */
export function expectProblem({ status, headers, body }: Reply, kind: ProblemKind, detail?: string | RegExp): void {
  const problem = JSON.parse(body.toString() || 'null') as unknown;
  const wanted = { type: `${problemBase}/${kind}`, ...problemKinds[kind], detail: expect.any(String) };
  expect({ status, media: headers['content-type'], problem }).toEqual({
    status: problemKinds[kind].status,
    media: 'application/problem+json',
    problem: wanted,
  });
  if (detail !== undefined) expect(ProblemDetails.parse(problem).detail).toMatch(detail);
}

/** A client address that no other test uses, in canonical form. */
export const newIp = () => `2001:db8:${newGroup()}:${newGroup()}::1`;
const newGroup = () => randomInt(0x1000, 0x10000).toString(16);

/** A test that needs Redis. Without it `npm test` reports the test as skipped, and fails in CI. */
export const redisTest = testServers.redisUrl() ? test : test.skip;

export const range = (count: number) => Array.from({ length: count }, (_, n) => n);
