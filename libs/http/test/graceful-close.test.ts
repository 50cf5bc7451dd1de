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

/** A client that keeps one connection. */
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

/** A server whose responses wait until the test releases them. */
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

/** Resolves when the server has stopped listening. From then on its responses end their connections. */
const refused = ({ port }: RunningServer) =>
  eventually(() => expect(once(connect(port), 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' }));

const soon = () => Date.now() + 10_000;

test('a close loses none of the requests of 20 clients that send continuously', async () => {
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

test('clients that reconnect as soon as their connection ends are refused, and never cut off', async () => {
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

test('pending requests get a response that ends the connection', async () => {
  const { server, arrived, release } = await holdingServer();
  const asked = Array.from({ length: 20 }, () => newClient(server)());
  await arrived(20);
  const closed = server.close(soon());
  await refused(server);
  release();
  expect(await Promise.all(asked)).toEqual(Array(20).fill({ text: 'done', closes: true }));
  await closed;
});

test('a close waits for pending requests', async () => {
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

test('a request on an idle connection while the server closes gets a response that ends the connection', async () => {
  const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
  const ask = newClient(server);
  expect(await ask()).toEqual({ text: 'done', closes: false });
  const closed = server.close(soon());
  await refused(server);
  expect(await ask()).toEqual({ text: 'done', closes: true });
  await closed;
});

test('a close waits neither for idle connections nor for its deadline', async () => {
  const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
  await newClient(server)();
  const deadline = Date.now() + 20_000;
  await server.close(deadline);
  expect(Date.now()).toBeLessThan(deadline);
  await expect(newClient(server)()).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a connection whose response had begun before the close may bring one more request', async () => {
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

test('a request that arrives slowly when the close begins is read to its end', async () => {
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

test('connections that are not yet accepted when the server closes are served, not reset', async () => {
  for (let round = 0; round < 3; round++) {
    const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
    const warm = newClient(server);
    await warm();
    const sockets = Array.from({ length: 50 }, () => connect(server.port, '127.0.0.1'));
    await Promise.resolve(); // The connections are made from the next tick on.
    // While this process is busy, the operating system completes the connections.
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

test('whoever connects while a close waits for a busy server is served or refused, never reset', async () => {
  const busyFor = (ms: number) => {
    for (const end = performance.now() + ms; performance.now() < end; );
  };
  const outcomes: unknown[] = [];
  const answer = (_req: IncomingMessage, res: ServerResponse) => {
    busyFor(25);
    res.end('done');
  };
  const server = await listen(answer, { host: '127.0.0.1', port: 0, problemBase });
  const clients = Array.from({ length: 80 }, async () => {
    for (;;) {
      const outcome = await newClient(server)().then(
        ({ text }) => text,
        (error: NodeJS.ErrnoException) => error.code,
      );
      outcomes.push(outcome);
      if (outcome !== 'done') return;
    }
  });
  await eventually(() => expect(outcomes).toContain('done'));
  await Promise.all([server.close(soon()), ...clients]);
  expect(new Set(outcomes)).toEqual(new Set(['done', 'ECONNREFUSED']));
});

test('pending requests are cut off at the deadline', async () => {
  const { server, arrived } = await holdingServer();
  const cut = expect(newClient(server)()).rejects.toMatchObject({ code: 'ECONNRESET' });
  await arrived(1);
  await server.close(Date.now());
  await cut;
});

test('a client that honours `Keep-Alive` closes an unused connection before a stopping server would', async () => {
  const server = await listen((_req, res) => void res.end('done'), { host: '127.0.0.1', port: 0, problemBase });
  const answer = await fetch(`http://127.0.0.1:${server.port}`);
  expect(await answer.text()).toBe('done');
  expect(answer.headers.get('keep-alive')).toBe(`timeout=${keptByClients / 1000}`);
  const silence = 3 * keptByClients;
  const began = performance.now();
  await server.close(Date.now() + 2 * silence, silence);
  expect(performance.now() - began).toBeLessThan(silence);
});

test('the connection of a client that does not is kept longer, for balancers', async () => {
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

test('listening on a port in use is an error', async () => {
  const server = await listen((_req, res) => void res.end(), { host: '127.0.0.1', port: 0, problemBase });
  const again = listen((_req, res) => void res.end(), { host: '127.0.0.1', port: server.port, problemBase });
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await server.close(soon());
});
