import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet, FleetProcess } from '@attribution/fleet';
import { isRunning } from '@attribution/runtime';

/** Ends processes of a fleet by name; the fleet itself restarts them. */
export interface Processes {
  readonly all: readonly FleetProcess[];
  /** Returns the process of this name, such as `account-api-1`; throws if there is none. */
  get(name: string): FleetProcess;
  /** Sends a signal and waits until the process has ended. Resolves with the milliseconds that this took. */
  end(name: string, signal: NodeJS.Signals): Promise<number>;
  /** Resolves when `/readyz` is 200 for each of the named processes. Default: all. */
  ready(names?: readonly string[]): Promise<void>;
}

/** How long a signal may take to end a process, and a process to become ready again. */
const timeoutsMs = { end: 30_000, ready: 90_000 };

export function processesOf(fleet: Fleet): Processes {
  const get = (name: string): FleetProcess => {
    const found = fleet.processes.find((one) => one.name === name);
    if (!found) throw new Error(`There is no ${name}: ${fleet.processes.map((one) => one.name).join(', ')}`);
    return found;
  };

  async function untilReady(name: string): Promise<void> {
    for (const deadline = Date.now() + timeoutsMs.ready; ; await sleep(250)) {
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
      for (const deadline = sent + timeoutsMs.end; isRunning(pid) && get(name).pid === pid; await sleep(10))
        if (performance.now() > deadline) throw new Error(`${name} does not end by ${signal}`);
      const took = performance.now() - sent;
      while (get(name).pid === pid) await sleep(20);
      return took;
    },
    ready: async (names = fleet.processes.map(({ name }) => name)) => void (await Promise.all(names.map(untilReady))),
  };
}
