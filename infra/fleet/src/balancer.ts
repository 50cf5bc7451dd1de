import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Backend {
  readonly port: number;
  /** Of the process, whose `/readyz` says whether it is to be sent anything. */
  readonly url: string;
}

/** Shares new connections of one port out among the replicas that are ready, as a service of Kubernetes does. */
export interface Balancer {
  readonly url: string;
  /** Resolves when it sends connections to this one. Throws where that does not come. */
  sends(to: Backend): Promise<void>;
  stop(): Promise<void>;
}

/** Milliseconds: between two looks at readiness, and for an answer; a check behind it may take three seconds. */
const probeEvery = 150;
const patience = 4_000;
/** Milliseconds that somebody waits for one to be ready. */
const readyWithin = 30_000;
/** Looks in a row that must fail, as in Kubernetes: on a busy machine one alone may fail everywhere at once. */
const strikes = 2;

/** On a port, or on a free one for 0. Knows no HTTP: a replica that stops tells its own clients to leave. */
export async function startBalancer(port: number, backends: readonly Backend[]): Promise<Balancer> {
  const ready = new Set<Backend>();
  const sockets = new Set<Socket>();
  const stopping = new AbortController();
  let turn = 0;

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    client.on('error', () => {});
    const among = [...ready];
    const first = turn++;
    pass(
      client,
      among.map((_, index) => among[(first + index) % among.length] as Backend),
    );
  });

  /** To the first that takes the connection: one that has just gone may still be thought ready. */
  function pass(client: Socket, [backend, ...others]: readonly Backend[]): void {
    if (!backend) return void client.resetAndDestroy();
    const onward = connect({ port: backend.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const refused = () => {
      onward.destroy();
      if (client.destroyed) return;
      pass(client, others);
    };
    onward.once('error', refused);
    onward.once('connect', () => {
      onward.off('error', refused);
      join(client, onward);
      join(onward, client);
    });
  }

  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.pipe(to);
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroySoon();
    });
  }

  async function watch(backend: Backend): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      failures = (await isReady(backend)) ? 0 : failures + 1;
      if (failures === 0) ready.add(backend);
      else if (failures >= strikes) ready.delete(backend);
      await sleep(probeEvery, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const watches = backends.map(watch);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async sends(to) {
      for (const deadline = Date.now() + readyWithin; !ready.has(to); await sleep(20))
        if (Date.now() > deadline) throw new Error(`${to.url} is not ready`);
    },
    async stop() {
      stopping.abort();
      server.close();
      for (const socket of sockets) socket.destroy();
      await Promise.all(watches);
    },
  };
}

async function isReady({ url }: Backend): Promise<boolean> {
  try {
    const init = { headers: { connection: 'close' }, signal: AbortSignal.timeout(patience) };
    const answer = await fetch(`${url}/readyz`, init);
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
