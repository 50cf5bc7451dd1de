import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGroup, listGroups } from '@attribution/contracts';
import { keptByClients } from '@attribution/http';
import type { Chance } from '@attribution/testing';
import { type Exchange, exchange } from './exchange.ts';

/** Clients that keep their connection until the server closes it, and retry a request only if the connection was refused. */
export interface SteadyClients {
  readonly answered: number;
  /** How many requests were sent again because the connection was refused. */
  readonly refused: number;
  readonly failed: readonly Exchange[];
  /** The ids of groups whose creation was acknowledged. */
  readonly created: ReadonlySet<string>;
  readonly slowest: number;
  /** Resolves when all requests have ended. */
  stop(): Promise<void>;
}

export interface SteadyClientsOptions {
  readonly url: string;
  readonly token: () => string;
  readonly chance: Chance;
  readonly count: number;
  /** The longest pause between two requests of a busy client. Default: 25. */
  readonly maxPauseMs?: number;
  /** Ends a client at its first refused connection, for platforms with a single process. Default: false. */
  readonly stopWhenRefused?: boolean;
}

/** Milliseconds between two requests. Most clients are busy; some pause for longer than the server keeps an idle connection. */
const pauses = { busy: 25, idle: [200, 2_500] } as const;

/** So long after a request its connection is not used again: a second before the server, which answered later, may close it. */
const keptMs = keptByClients - 1_000;

export function startSteadyClients({
  url,
  token,
  chance,
  count,
  maxPauseMs = pauses.busy,
  stopWhenRefused,
}: SteadyClientsOptions): SteadyClients {
  const failed: Exchange[] = [];
  const created = new Set<string>();
  let [answered, refused, slowest, stopping] = [0, 0, 0, false];

  async function live(client: number): Promise<void> {
    const newAgent = () => new Agent({ keepAlive: true, maxSockets: 1 });
    let [agent, sentAt] = [newAgent(), performance.now()];
    const [least, most] = client % 4 === 0 ? pauses.idle : ([0, maxPauseMs] as const);
    while (!stopping) {
      const writes = chance.share() < 0.3;
      const request = writes
        ? { what: 'create', endpoint: createGroup, body: { name: 'North' } }
        : { what: 'list', endpoint: listGroups };
      // The agent has a timer for it, which is late on a busy machine.
      if (performance.now() - sentAt > keptMs) {
        agent.destroy();
        agent = newAgent();
      }
      sentAt = performance.now();
      const sent = await exchange(url, agent, { ...request, token: token() });
      if (sent.outcome === 'cut: ECONNREFUSED') {
        refused++;
        if (stopWhenRefused) break;
        await sleep(20);
        continue;
      }
      if (sent.outcome === 'done') answered++;
      else failed.push(sent);
      slowest = Math.max(slowest, sent.ms);
      if (typeof sent.body.id === 'string') created.add(sent.body.id);
      await sleep(chance.int(least, most));
    }
    agent.destroy();
  }
  const lives = Array.from({ length: count }, (_, client) => live(client));
  return {
    get answered() {
      return answered;
    },
    get refused() {
      return refused;
    },
    get slowest() {
      return slowest;
    },
    failed,
    created,
    async stop() {
      stopping = true;
      await Promise.all(lives);
    },
  };
}
