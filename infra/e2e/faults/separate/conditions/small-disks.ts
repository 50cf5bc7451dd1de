import { open, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { mountSmallDisk, type SmallDisk } from '@attribution/servers';
import { rowsOf } from '../../crash/check/databases.ts';
import type { Servers } from '../servers.ts';

export interface SmallDisks {
  /** Creates each service's database on its own small disk. The write-ahead log, shared by all databases, is elsewhere. */
  prepare(servers: Servers): Promise<void>;
  /** Fills a service's disk and keeps it full, whatever space becomes free, until `empty`. */
  fill(service: string): Promise<void>;
  empty(service: string): Promise<void>;
  close(): Promise<void>;
}

const mebibytes = 96;
/** How often space that has become free is filled again. */
const pollMs = 100;

export function smallDisks(how: string, services: readonly string[]): SmallDisks {
  const disks = new Map<string, SmallDisk>();
  const filling = new Map<string, { readonly stop: AbortController; readonly done: Promise<void> }>();
  const ballastOf = (service: string) => join(disks.get(service)?.directory ?? '', 'ballast');

  async function keepFull(service: string, signal: AbortSignal): Promise<void> {
    const file = await open(ballastOf(service), 'a', 0o600);
    try {
      while (!signal.aborted) {
        await writeUntilFull(file);
        await sleep(pollMs, undefined, { signal }).catch(() => {});
      }
    } finally {
      await file.close();
    }
  }

  async function stopFilling(service: string): Promise<void> {
    const present = filling.get(service);
    present?.stop.abort();
    await present?.done;
    filling.delete(service);
  }

  return {
    async prepare({ postgres }) {
      const admin = postgres.url('postgres');
      const [where] = await rowsOf<{ data_directory: string }>(admin, 'SHOW data_directory');
      const { uid } = await stat(where?.data_directory ?? '');
      for (const service of services) {
        const disk = await mountSmallDisk(how, mebibytes, uid);
        disks.set(service, disk);
        await rowsOf(admin, `CREATE TABLESPACE small_${service} LOCATION '${disk.directory}'`);
        // The fleet sets the role's password when it creates the databases.
        await rowsOf(admin, `CREATE ROLE ${service}`);
        await rowsOf(admin, `CREATE DATABASE ${service} OWNER ${service} TABLESPACE small_${service}`);
      }
    },
    async fill(service) {
      const stop = new AbortController();
      filling.set(service, { stop, done: keepFull(service, stop.signal) });
      while (!(await isFull(ballastOf(service)))) await sleep(10);
    },
    async empty(service) {
      await stopFilling(service);
      await rm(ballastOf(service), { force: true });
    },
    async close() {
      for (const service of services) await stopFilling(service);
      for (const disk of disks.values()) await disk.unmount();
    },
  };
}

type File = Awaited<ReturnType<typeof open>>;
const sizes = [1 << 20, 1 << 12].map((size) => Buffer.alloc(size));

/** Writes large pieces first, then pages, the unit of allocation of a file system in memory. */
async function writeUntilFull(file: File): Promise<void> {
  for (const piece of sizes) {
    for (let room = true; room; ) room = await file.write(piece).then(() => true, isNoSpace);
  }
}

function isNoSpace(error: NodeJS.ErrnoException): false {
  if (error.code === 'ENOSPC') return false;
  throw error;
}

async function isFull(path: string): Promise<boolean> {
  return (await statfs(dirname(path))).bavail === 0;
}
