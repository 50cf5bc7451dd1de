import { once } from 'node:events';
import { Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { eventually, problemBase } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { keptByClients, listen, type RunningServer } from '../src/index.ts';

const agents: Agent[] = [];
afterEach(() => {
  for (const agent of agents.splice(0)) agent.destroy();
});

/** A client with one connection, which it keeps. */
function newClient({ port }: RunningServer) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  agents.push(agent);
  return async (): Promise<{ text: string; closes: boolean }> => {
    const req = request({ port, host: '127.0.0.1', agent });
    req.end();
    const [res] = (await once(req, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of res) text += String(chunk);
    return { text, closes: res.headers.connection === 'close' };
  };
}

/** A server whose answers wait until they are let go. */
async function holdingServer() {
  const held: ServerResponse[] = [];
  const server = await listen((_req, res) => void held.push(res), { host: '127.0.0.1', port: 0, problemBase });
  return {
    server,
    held,
    arrived: (count: number) => eventually(() => expect(held).toHaveLength(count)),
    release: () => held.splice(0).map((res) => res.end('done')),
  };
}

/** Resolves when nobody listens any more: from then on clients are told to leave. */
const refused = ({ port }: RunningServer) =>
  eventually(() => expect(once(connect(port), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' }));

const soon = () => Date.now() + 10_000;

test('20 clients that send without a break lose not one request to a close', async () => {
  let answered = 0;
  const answer = (_req: IncomingMessage, res: ServerResponse) =>
    void setTimeout(() => res.end(String(++answered)), Math.random() * 10);
  const server = await listen(answer, { host: '127.0.0.1', port: 0, problemBase });
  let sent = 0;
  const clients = Array.from({ length: 20 }, async () => {
    const ask = newClient(server);
    for (;;) {
      sent++;
      if ((await ask()).closes) return;
    }
  });
  await eventually(() => expect(answered).toBeGreaterThan(200));
  await Promise.all([server.close(soon()), ...clients]);
  expect(answered).toBe(sent);
});

test('clients who come back as soon as they are told to leave are refused, and never cut', async () => {
  for (let round = 0; round < 5; round++) {
    const answer = (_req: IncomingMessage, res: ServerResponse) => void setTimeout(() => res.end('done'), 2);
    const server = await listen(answer, { host: '127.0.0.1', port: 0, problemBase });
    const endings = Array.from({ length: 40 }, async () => {
      const ask = newClient(server);
      try {
        for (;;) await ask();
      } catch (error) {
        return (error as NodeJS.ErrnoException).code;
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    await server.close(soon());
    expect(await Promise.all(endings)).toEqual(Array(40).fill('ECONNREFUSED'));
  }
});

test('what is in hand is answered, and its client told not to use the connection again', async () => {
  const { server, arrived, release } = await holdingServer();
  const asked = Array.from({ length: 20 }, () => newClient(server)());
  await arrived(20);
  const closed = server.close(soon());
  await refused(server);
  release();
  expect(await Promise.all(asked)).toEqual(Array(20).fill({ text: 'done', closes: true }));
  await closed;
});

test('a close waits for what is in hand', async () => {
  const { server, arrived, release } = await holdingServer();
  const asked = newClient(server)();
  await arrived(1);
  let closed = false;
  const closing = server.close(soon()).then(() => {
    closed = true;
  });
  await refused(server);
  expect(closed).toBe(false);
  release();
  expect((await asked).text).toBe('done');
  await closing;
});

test('a request that comes on an idle connection while the server closes is answered, and ends the connection', async () => {
  const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
  const ask = newClient(server);
  expect(await ask()).toEqual({ text: 'done', closes: false });
  const closed = server.close(soon());
  await refused(server);
  expect(await ask()).toEqual({ text: 'done', closes: true });
  await closed;
});

test('idle connections do not keep a server from closing, nor does its deadline', async () => {
  const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
  await newClient(server)();
  const deadline = Date.now() + 20_000;
  await server.close(deadline);
  expect(Date.now()).toBeLessThan(deadline);
  await expect(newClient(server)()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('an answer that had begun when the close did ends with a connection that may bring one more request', async () => {
  const answers: ServerResponse[] = [];
  const server = await listen(
    (_req, res) => {
      res.write('begun,');
      answers.push(res);
    },
    { host: '127.0.0.1', port: 0, problemBase },
  );
  const ask = newClient(server);
  const first = ask();
  await eventually(() => expect(answers).toHaveLength(1));
  const silence = 2_000;
  const closed = server.close(soon(), silence);
  await new Promise((resolve) => setTimeout(resolve, silence + 500));
  answers[0]?.end('done');
  expect(await first).toEqual({ text: 'begun,done', closes: false });
  const second = ask();
  await eventually(() => expect(answers).toHaveLength(2));
  answers[1]?.end('done');
  expect(await second).toEqual({ text: 'begun,done', closes: true });
  await closed;
});

test('a request that is arriving slowly when the close begins is taken to its end', async () => {
  const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
  const socket = connect(server.port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n');
  await once(socket, 'connect');
  await new Promise((resolve) => setTimeout(resolve, 50));
  const closed = server.close(soon());
  await new Promise((resolve) => setTimeout(resolve, 600));
  socket.write('\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 OK\r\n(.*\r\n)*connection: close\r\n/i);
  await closed;
});

test('a server without connections closes at once', async () => {
  const server = await listen((_req, res) => void res.end(), { host: '127.0.0.1', port: 0, problemBase });
  const silence = 8_000;
  const began = performance.now();
  await server.close(soon(), silence);
  expect(performance.now() - began).toBeLessThan(silence);
});

test('connections that nobody has accepted yet are answered, and not reset, when the server closes', async () => {
  for (let round = 0; round < 3; round++) {
    const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
    const warm = newClient(server);
    await warm();
    const sockets = Array.from({ length: 50 }, () => connect(server.port, '127.0.0.1'));
    await Promise.resolve(); // They are on their way from the next tick on.
    // While this process is busy, the system completes them for it.
    for (const end = Date.now() + 20; Date.now() < end; );
    const closed = server.close(soon());
    const outcomes = sockets.map(async (socket) => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      let text = '';
      for await (const chunk of socket) text += String(chunk);
      return text.endsWith('done');
    });
    expect(await Promise.all(outcomes)).toEqual(Array(50).fill(true));
    await closed;
  }
});

test('at the deadline what is still in hand is cut', async () => {
  const { server, arrived } = await holdingServer();
  const cut = expect(newClient(server)()).rejects.toMatchObject({ code: 'ECONNRESET' });
  await arrived(1);
  await server.close(Date.now());
  await cut;
});

test('a client that goes by what it is told leaves an unused connection before a silent server would end it', async () => {
  const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
  const answer = await fetch(`http://127.0.0.1:${server.port}`);
  expect(await answer.text()).toBe('done');
  expect(answer.headers.get('keep-alive')).toBe(`timeout=${keptByClients / 1000}`);
  const silence = 3 * keptByClients;
  const began = performance.now();
  await server.close(Date.now() + 2 * silence, silence);
  expect(performance.now() - began).toBeLessThan(silence);
});

test('a client that does not has its connection kept for longer, as balancers have', async () => {
  const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
  const socket = connect(server.port, '127.0.0.1');
  const ask = async () => {
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return String(answer);
  };
  expect(await ask()).toContain('done');
  await new Promise((resolve) => setTimeout(resolve, keptByClients + 2_000));
  expect(await ask()).toContain('done');
  socket.destroy();
  await server.close(soon());
});

test('a port that is taken is an error, not a silence', async () => {
  const server = await listen((_req, res) => void res.end(), { host: '127.0.0.1', port: 0, problemBase });
  const again = listen((_req, res) => void res.end(), { host: '127.0.0.1', port: server.port, problemBase });
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await server.close(soon());
});
