import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Backend {
  readonly port: number;
  /** The base URL of the process. Its `/readyz` decides whether it gets connections. */
  readonly url: string;
}

/** Distributes the new connections of one port among the replicas that are ready, as a Kubernetes service does. */
export interface Balancer {
  readonly url: string;
  /** Resolves as soon as the replica gets connections. Throws if it is not ready in time. */
  sends(to: Backend): Promise<void>;
  stop(): Promise<void>;
}

/** Two replicas of everything are twenty to ask: every 150 ms, that alone keeps a tenth of a processor busy. */
const probeIntervalMs = 400;
/** A readiness check may take three seconds. */
const probeTimeoutMs = 4_000;
const readyTimeoutMs = 30_000;
/** After how many probes in a row without an answer a replica is silent. On a busy machine a single probe may fail. */
const failureThreshold = 2;

/**
 * Starts a balancer on a port, or on a free one if it is 0. It works on TCP connections: a replica that stops asks its
 * clients itself to close theirs.
 */
export async function startBalancer(port: number, backends: readonly Backend[]): Promise<Balancer> {
  const ready = new Set<Backend>();
  /**
   * Those that were ready and do not answer any more. They get connections when no other replica is ready: more likely the
   * machine is slow than that they all ended.
   */
  const silent = new Set<Backend>();
  const sockets = new Set<Socket>();
  const stopping = new AbortController();
  let turn = 0;

  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    client.on('error', () => {});
    const candidates = [...(ready.size > 0 ? ready : silent)];
    const first = turn++;
    forward(
      client,
      candidates.map((_, index) => candidates[(first + index) % candidates.length] as Backend),
    );
  });

  /** Forwards to the first backend that accepts: one that has just stopped may still count as ready. */
  function forward(client: Socket, [backend, ...others]: readonly Backend[]): void {
    if (!backend) return void client.resetAndDestroy();
    const upstream = connect({ port: backend.port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const refused = () => {
      upstream.destroy();
      if (client.destroyed) return;
      forward(client, others);
    };
    upstream.once('error', refused);
    upstream.once('connect', () => {
      upstream.off('error', refused);
      join(client, upstream);
      join(upstream, client);
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
      const isReady = await askReady(backend);
      failures = isReady === undefined ? failures + 1 : 0;
      if (isReady !== undefined) silent.delete(backend);
      if (isReady) ready.add(backend);
      else if (isReady === false) ready.delete(backend);
      else if (failures >= failureThreshold && ready.delete(backend)) silent.add(backend);
      await sleep(probeIntervalMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const watches = backends.map(watch);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async sends(to) {
      for (const deadline = Date.now() + readyTimeoutMs; !ready.has(to); await sleep(20))
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

/** What a replica says of itself; undefined if it does not answer. */
async function askReady({ url }: Backend): Promise<boolean | undefined> {
  try {
    const init = { headers: { connection: 'close' }, signal: AbortSignal.timeout(probeTimeoutMs) };
    const response = await fetch(`${url}/readyz`, init);
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return undefined;
  }
}
