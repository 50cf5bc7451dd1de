import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ground } from './grounds.ts';

const sampleMs = 250;

export interface MemoryWatch {
  /** The most that each process had resident so far, in MB by its name. */
  readonly most: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Looks at the memory of the processes several times a second. */
export function watchMemory(ground: Pick<Ground, 'processes'>): MemoryWatch {
  const most = new Map<string, number>();
  const stopping = new AbortController();
  const loop = async () => {
    while (!stopping.signal.aborted) {
      for (const { name, pid } of ground.processes())
        most.set(name, Math.max(most.get(name) ?? 0, await residentMb(pid)));
      await sleep(sampleMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const looping = loop();
  return {
    most,
    async stop() {
      stopping.abort();
      await looping;
    },
  };
}

async function residentMb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
}
