import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetOptions } from '@attribution/fleet';
import { freePort } from '@attribution/servers';

export interface ToxicWires {
  readonly adjust: NonNullable<FleetOptions['adjust']>;
  /** Creates the proxies. They let everything pass until they are disturbed. */
  open(): Promise<void>;
  /**
   * Delays responses by `latency` milliseconds and resets connections at a rate of `loss`: half of them when a request
   * arrives, half when a response does. TCP repeats lost packets, so to a client loss is a late response, or a connection
   * that breaks at any moment, even after the work was done and before the response.
   */
  disturb(options: { readonly latency: number; readonly loss: number }): Promise<void>;
  cure(): Promise<void>;
  remove(): Promise<void>;
}

/** How often the connections to be reset are drawn anew: about once per request. */
const redrawMs = 200;

interface Toxic {
  readonly name: string;
  readonly type: string;
  readonly stream: 'upstream' | 'downstream';
  readonly toxicity: number;
  readonly attributes: object;
}

/** Puts Toxiproxy, whose API is at `api`, between the processes whose names begin with `from` and addresses of the Compose file. */
export async function layToxicWires(api: string, from: string, addresses: readonly string[]): Promise<ToxicWires> {
  const wires = await Promise.all(
    addresses.map(async (address) => {
      const port = await freePort();
      return { address, port, name: `shake-${port}`, upstream: '' };
    }),
  );
  let redrawing: Promise<void> | undefined;
  let redraws = new AbortController();

  async function command(method: string, path: string, body?: object): Promise<void> {
    const init = {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    };
    const answer = await fetch(new URL(path, api), { ...init, signal: AbortSignal.timeout(5_000) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`Toxiproxy: ${method} ${path}: ${answer.status} ${text}`);
  }
  const onEach = (work: (path: string) => Promise<void>) =>
    Promise.all(wires.map(({ name }) => work(`/proxies/${name}/toxics`)));

  /** Toxiproxy decides once per connection whether a toxic applies, and ours are long-lived: updating the toxic makes it decide again. */
  async function redraw(toxics: readonly Toxic[], signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await sleep(redrawMs, undefined, { signal }).catch(() => {});
      for (const toxic of toxics)
        if (!signal.aborted) await onEach((path) => command('POST', `${path}/${toxic.name}`, toxic));
    }
  }

  const toxicsOf = (latency: number, loss: number): readonly Toxic[] => [
    { name: 'late', type: 'latency', stream: 'downstream', toxicity: 1, attributes: { latency, jitter: 0 } },
    { name: 'lost-request', type: 'reset_peer', stream: 'upstream', toxicity: loss / 2, attributes: { timeout: 0 } },
    { name: 'lost-answer', type: 'reset_peer', stream: 'downstream', toxicity: loss / 2, attributes: { timeout: 0 } },
  ];
  let present: readonly Toxic[] = [];

  async function cure(): Promise<void> {
    redraws.abort();
    await redrawing;
    for (const { name } of present.toReversed()) await onEach((path) => command('DELETE', `${path}/${name}`));
    present = [];
  }

  return {
    adjust(launch, placed) {
      let { environment } = launch;
      for (const wire of wires) {
        const there = placed.get(wire.address);
        if (there === undefined) throw new Error(`The Compose file has no ${wire.address}`);
        wire.upstream = there;
        if (!launch.name.startsWith(from)) continue;
        const moved = (value: string) => value.replaceAll(there, `127.0.0.1:${wire.port}`);
        environment = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, moved(value)]));
      }
      return { ...launch, environment };
    },
    async open() {
      for (const { name, port, upstream } of wires)
        await command('POST', '/proxies', { name, listen: `127.0.0.1:${port}`, upstream, enabled: true });
    },
    async disturb({ latency, loss }) {
      present = toxicsOf(latency, loss);
      for (const toxic of present) await onEach((path) => command('POST', path, toxic));
      redraws = new AbortController();
      redrawing = redraw(
        present.filter(({ toxicity }) => toxicity < 1),
        redraws.signal,
      );
    },
    cure,
    async remove() {
      redraws.abort();
      await redrawing?.catch(() => {});
      for (const { name } of wires) await command('DELETE', `/proxies/${name}`).catch(() => {});
    },
  };
}
