import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalPlatform } from './local.ts';

/** The resident memory of a process in megabytes; undefined if the system does not report it. */
export function residentOf(pid: number): Promise<number | undefined> {
  return figureOf(pid, 'status', /^VmRSS:\s+(\d+) kB/m);
}

/** The memory of the Postgres that runs on a folder in megabytes. Memory shared between its processes counts once. */
export async function postgresMemory(directory: string): Promise<number | undefined> {
  const note = await readFile(join(directory, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const postmaster = Number(note.split('\n')[0]);
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter((pid) => pid > 0);
  const parents = await Promise.all(pids.map((pid) => parentOf(pid)));
  const own = pids.filter((pid, index) => pid === postmaster || parents[index] === postmaster);
  const shares = await Promise.all(own.map((pid) => figureOf(pid, 'smaps_rollup', /^Pss:\s+(\d+) kB/m)));
  const known = shares.filter((share) => share !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, share) => sum + share, 0);
}

async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
}

async function figureOf(pid: number, file: string, line: RegExp): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '');
  const kilobytes = line.exec(text)?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

/** Megabytes of the heap in use after so many garbage collections, of a platform started with `--inspect=127.0.0.1:0`. */
export async function heapAfterCollection(platform: LocalPlatform, collections: number): Promise<number> {
  const address = /ws:\/\/\S+/.exec(platform.output())?.[0];
  if (address === undefined) throw new Error('The platform was started without an inspector');
  const socket = new WebSocket(address);
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true });
    socket.addEventListener('error', () => reject(new Error(`No inspector at ${address}`)), { once: true });
  });
  try {
    for (let time = 0; time < collections; time++) {
      await ask(socket, 'HeapProfiler.collectGarbage');
      await sleep(500); // The next collection takes what finalizers release in the meantime.
    }
    const { usedSize } = await ask<{ usedSize: number }>(socket, 'Runtime.getHeapUsage');
    return usedSize / 2 ** 20;
  } finally {
    socket.close();
  }
}

/** Sends one command of the DevTools protocol and waits for its result. */
function ask<T>(socket: WebSocket, method: string): Promise<T> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(
      'message',
      ({ data }) => {
        const { result, error } = JSON.parse(String(data)) as { result: T; error?: { message: string } };
        if (error) reject(new Error(`${method}: ${error.message}`));
        else resolve(result);
      },
      { once: true },
    );
    socket.send(JSON.stringify({ id: 1, method }));
  });
}
