import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@attribution/contracts';
import { upstreamsAt } from '@attribution/gateway';
import { freePort } from '@attribution/servers';
import { testKeys } from '@attribution/testing';
import { createMember } from '../member.ts';

/** Where the services are that the gateway believes in; one that is left out is where unusedPort listens. */
export type Upstreams = Partial<Record<ServiceName, { readonly url: string }>>;

/** A gateway in a process of its own, before upstreams of the experiment's. */
export interface Edge {
  readonly port: number;
  readonly url: string;
  /** A metric of its admin port, summed over its labels; 0 for one that is not there. */
  metric(name: string): Promise<number>;
  /** Open files of the process; where the system does not tell them, handles of Node. */
  openFiles(): Promise<number>;
  stop(): Promise<unknown>;
}

export async function startEdge(upstreams: Upstreams, environment: Record<string, string> = {}): Promise<Edge> {
  const [port, adminPort, unusedPort] = [await freePort(), await freePort(), await freePort()];
  const member = createMember({
    program: 'gateway/src/main.ts',
    port,
    environment: {
      ADMIN_PORT: String(adminPort),
      ...upstreamsAt((service) => upstreams[service]?.url ?? `http://127.0.0.1:${unusedPort}`),
      TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public),
      LOG_LEVEL: 'error', // Every request is a line, and every failure that is planted a warning.
      ...environment,
    },
  });

  async function metrics(): Promise<string> {
    try {
      return await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text();
    } catch (cause) {
      throw new Error(`The gateway does not answer\n${member.output.slice(-4_000)}`, { cause });
    }
  }
  async function metric(name: string): Promise<number> {
    return sumOf(await metrics(), name) ?? 0;
  }

  member.start();
  const deadline = Date.now() + 30_000;
  while ((await metrics().catch(() => '')) === '' && member.running && Date.now() < deadline) await sleep(50);
  await metrics();
  return {
    port,
    url: member.url,
    metric,
    async openFiles() {
      const text = await metrics();
      return sumOf(text, 'process_open_fds') ?? sumOf(text, 'nodejs_active_handles_total') ?? Number.NaN;
    },
    stop: () => member.end('SIGKILL'), // How it ends when it is asked to is another experiment's.
  };
}

/** Of Prometheus's text format: the sum of a metric's samples. */
function sumOf(text: string, name: string): number | undefined {
  const samples = text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
  return samples.length === 0 ? undefined : samples.reduce((sum, value) => sum + value, 0);
}
