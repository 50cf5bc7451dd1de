import { type BenchServer, startServer } from '../server.ts';

/** What came of the heartbeats of a crowd of devices. */
export interface CrowdResult {
  /** Answers per second. */
  readonly rate: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly answered: number;
  readonly failed: number;
}

export interface Crowd extends Pick<BenchServer, 'pid' | 'stop'> {
  /** As many heartbeats as get answers, of so many devices at once. Rejects if one fails. */
  full(connections: number, seconds: number): Promise<CrowdResult>;
  /** A heartbeat in each interval of each device. */
  paced(connections: number, seconds: number, intervalSeconds: number): Promise<CrowdResult>;
}

/** Starts the devices of a file in a process of their own, on other cores than what is measured. */
export async function startCrowd(target: string, ca: string, identities: string): Promise<Crowd> {
  const environment = { TARGET: target, CA: ca, IDENTITIES: identities };
  const server = await startServer(new URL('./crowd.server.ts', import.meta.url), environment, 'around');
  async function ask(path: string, wanted: Record<string, number>): Promise<CrowdResult> {
    const query = new URLSearchParams(Object.entries(wanted).map(([name, value]) => [name, `${value}`]));
    const answer = await fetch(`${server.url}/${path}?${query}`, { method: 'POST' });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as CrowdResult;
  }
  return {
    ...server,
    async full(connections, seconds) {
      const result = await ask('full', { connections, seconds });
      if (result.failed > 0) throw new Error(`${result.failed} heartbeats failed`);
      return result;
    },
    paced: (connections, seconds, interval) => ask('paced', { connections, seconds, interval }),
  };
}
