import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '@attribution/contracts';
import { upstreamsAt } from '@attribution/gateway';
import { freePort } from '@attribution/servers';
import { testKeys } from '@attribution/testing';
import { createMember, startTimeoutMs } from '../member.ts';
import { overOneConnection } from './one-connection.ts';

/** The services behind the gateway. The others get an address where nothing listens. */
export type Upstreams = Partial<Record<ServiceName, { readonly url: string }>>;

/** A gateway in its own process, in front of the experiment's upstreams. */
export interface Edge {
  readonly port: number;
  readonly url: string;
  /** A metric from the admin port, summed over its labels; 0 if it does not exist. */
  metric(name: string): Promise<number>;
  /** The number of open files of the process; on systems without this metric, of Node's handles. */
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
      LOG_LEVEL: 'error', // At lower levels every request is logged, and every planted failure is a warning.
      ...environment,
    },
  });

  const readMetrics = overOneConnection(`http://127.0.0.1:${adminPort}/metrics`);
  async function metrics(): Promise<string> {
    try {
      return await readMetrics();
    } catch (cause) {
      throw new Error(`The gateway does not answer\n${member.output.slice(-4_000)}`, { cause });
    }
  }
  async function metric(name: string): Promise<number> {
    return sumOf(await metrics(), name) ?? 0;
  }

  member.start();
  const deadline = Date.now() + startTimeoutMs;
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
    stop: () => member.end('SIGKILL'), // The sigterm experiment tests the orderly stop.
  };
}

/** The sum of a metric's samples in Prometheus's text format; undefined if there are none. */
function sumOf(text: string, name: string): number | undefined {
  const samples = text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
  return samples.length === 0 ? undefined : samples.reduce((sum, value) => sum + value, 0);
}
