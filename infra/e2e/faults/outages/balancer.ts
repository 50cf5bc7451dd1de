import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Backend {
  readonly url: string;
}

/** Shares new connections out among the backends that say they are ready, as a Kubernetes service does; knows no HTTP. */
export interface Balancer {
  readonly url: string;
  /** Resolves when it sends connections to this one (or, with false, no more). */
  sends(to: Backend, wanted?: boolean): Promise<void>;
  close(): void;
}

/** Milliseconds between two looks at readiness. */
const probeEvery = 150;

export async function startBalancer(backends: readonly Backend[]): Promise<Balancer> {
  const ready = new Set<Backend>();
  const sockets = new Set<Socket>();
  let turn = 0;
  let closed = false;

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const among = [...ready];
    const to = among[turn++ % among.length];
    if (!to) return void client.resetAndDestroy();
    const onward = connect({ port: Number(new URL(to.url).port), host: '127.0.0.1', allowHalfOpen: true });
    join(client, onward);
    join(onward, client);
  });
  function join(from: Socket, to: Socket): void {
    sockets.add(from);
    from.setNoDelay();
    from.pipe(to);
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => {
      sockets.delete(from);
      to.destroySoon();
    });
  }

  async function probe(backend: Backend): Promise<void> {
    while (!closed) {
      const ok = await fetch(`${backend.url}/readyz`, { headers: { connection: 'close' } }).then(
        (answer) => answer.arrayBuffer().then(() => answer.ok),
        () => false,
      );
      if (ok) ready.add(backend);
      else ready.delete(backend);
      await sleep(probeEvery);
    }
  }
  const url = await listening(server);
  for (const backend of backends) void probe(backend);
  return {
    url,
    async sends(to, wanted = true) {
      for (const deadline = Date.now() + 30_000; ready.has(to) !== wanted; await sleep(20))
        if (Date.now() > deadline) throw new Error(`${to.url} is ${wanted ? 'not ' : ''}ready`);
    },
    close() {
      closed = true;
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
