import { setTimeout as sleep } from 'node:timers/promises';
import type { FleetProcess } from '@attribution/fleet';
import type { Row } from '../case.ts';
import { residentOf } from '../platform/memory.ts';

/** Megabytes. */
export interface Memory {
  readonly resident: number;
  /** The JavaScript heap in use, including garbage that has not been collected yet. */
  readonly heap: number;
}

export type Memories = ReadonlyMap<string, Memory>;

/** Megabytes: three quarters of a container's limit (k8s/parts/service, k8s/base/gateway: 512Mi). */
const bar = 384;
/** How often each is read. The heap comes from the metrics, which Prometheus reads as often. */
const intervalMs = { resident: 200, heap: 5_000 };

export async function memoryOf(processes: readonly FleetProcess[]): Promise<Memories> {
  const memories = processes.map(async (process): Promise<[string, Memory]> => {
    const [resident = Number.NaN, heap] = await Promise.all([residentOf(process.pid), heapOf(process)]);
    return [process.name, { resident, heap }];
  });
  return new Map(await Promise.all(memories));
}

async function heapOf({ metrics }: FleetProcess): Promise<number> {
  const text = await (await fetch(metrics)).text();
  const bytes = /^nodejs_heap_size_used_bytes(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1];
  return Number(bytes) / 2 ** 20;
}

export interface MemoryWatch {
  /** The highest values so far, by process. */
  readonly highest: Memories;
  /** Watches while the work is done. */
  during<T>(work: () => Promise<T>): Promise<T>;
}

export function watchMemory(processes: readonly FleetProcess[]): MemoryWatch {
  const highest = new Map<string, Memory>();

  function keep(name: string, { resident = 0, heap = 0 }: Partial<Memory>): void {
    const known = highest.get(name) ?? { resident: 0, heap: 0 };
    highest.set(name, { resident: Math.max(known.resident, resident), heap: Math.max(known.heap, heap) });
  }

  async function watch(what: keyof typeof intervalMs, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      for (const process of processes) {
        if (what === 'resident') keep(process.name, { resident: (await residentOf(process.pid)) ?? 0 });
        else keep(process.name, { heap: await heapOf(process) });
      }
      await sleep(intervalMs[what], undefined, { signal }).catch(() => {});
    }
  }

  return {
    highest,
    async during(work) {
      const stopping = new AbortController();
      const watches = [watch('resident', stopping.signal), watch('heap', stopping.signal)];
      try {
        return await work();
      } finally {
        stopping.abort();
        await Promise.all(watches);
      }
    },
  };
}

/** One row for each process; none if the system does not report resident memory. */
export function memoryRows(idle: Memories, highest: Memories): Row[] {
  const text = ({ resident, heap }: Memory) => `${resident.toFixed(0)} MB (heap ${heap.toFixed(0)} MB)`;
  return [...highest].flatMap(([name, loaded]) => {
    const before = idle.get(name);
    if (!before || !(loaded.resident > 0)) return [];
    return {
      what: `Resident memory of ${name.replace(/-1$/, '')} at its highest under the mix`,
      ours: text(loaded),
      beside: `${text(before)} idle`,
      bar: `< ${bar} MB`,
      holds: loaded.resident < bar,
    };
  });
}
