import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet, FleetProcess } from '@attribution/fleet';

/** The processes of a fleet, ended from outside by their names; the fleet itself starts them again. */
export interface Processes {
  readonly all: readonly FleetProcess[];
  /** Throws where there is no process of this name, as `account-api-1`. */
  get(name: string): FleetProcess;
  /** Sends a signal; resolves when the process is gone, with milliseconds. */
  end(name: string, signal: NodeJS.Signals): Promise<number>;
  /** Resolves when `/readyz` of each is 200: of these names, or of all. */
  ready(names?: readonly string[]): Promise<void>;
}

/** Milliseconds: a signal may take that long to end a process, and a process to be ready again. */
const patience = { end: 30_000, ready: 90_000 };

export function processesOf(fleet: Fleet): Processes {
  const get = (name: string): FleetProcess => {
    const found = fleet.processes.find((one) => one.name === name);
    if (!found) throw new Error(`There is no ${name}: ${fleet.processes.map((one) => one.name).join(', ')}`);
    return found;
  };

  async function untilReady(name: string): Promise<void> {
    for (const deadline = Date.now() + patience.ready; ; await sleep(50)) {
      const { url, log } = get(name);
      const answer = await fetch(`${url}/readyz`, {
        headers: { connection: 'close' },
        signal: AbortSignal.timeout(5_000),
      }).catch(() => undefined);
      await answer?.arrayBuffer().catch(() => {});
      if (answer?.ok) return;
      if (Date.now() > deadline) throw new Error(`${name} does not become ready (${answer?.status}): ${log}`);
    }
  }

  return {
    get all() {
      return fleet.processes;
    },
    get,
    async end(name, signal) {
      const { pid } = get(name);
      const sent = performance.now();
      process.kill(pid, signal);
      for (const deadline = sent + patience.end; isThere(pid) && get(name).pid === pid; await sleep(10))
        if (performance.now() > deadline) throw new Error(`${name} does not end by ${signal}`);
      const took = performance.now() - sent;
      while (get(name).pid === pid) await sleep(20);
      return took;
    },
    ready: async (names = fleet.processes.map(({ name }) => name)) => void (await Promise.all(names.map(untilReady))),
  };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
