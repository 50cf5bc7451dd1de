import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Ports are claimed in blocks, below the ranges from which systems take ports for outgoing connections. Otherwise such a connection could take the port of a
 * server that needs seconds to start.
 */
const FIRST = 20_000;
const BLOCK = 30;
const BLOCKS = 400;

/** Ports of this process' last block that were not given yet. */
let left: number[] = [];
let claiming: Promise<void> | undefined;

/**
 * A free port of 127.0.0.1. It is given once, and to one process of this machine, as long as that process lives: who asked for a port may not listen on it for
 * a while, and a fleet asks for a hundred before the first is used.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = left.pop();
    if (port === undefined) await (claiming ??= claimBlock().finally(() => (claiming = undefined)));
    else if (await isFree(port)) return port;
  }
}

export async function isFree(port: number): Promise<boolean> {
  const server = await listenOn(port);
  if (!server) return false;
  server.close();
  await once(server, 'close');
  return true;
}

/** Who listens on the first port of a block has the others. The system gives it up when the process ends, in whatever way. */
async function claimBlock(): Promise<void> {
  for (let attempt = 0; attempt < 10 * BLOCKS; attempt++) {
    const first = FIRST + BLOCK * randomInt(BLOCKS);
    const claim = await listenOn(first);
    if (!claim) continue;
    claim.unref();
    left = Array.from({ length: BLOCK - 1 }, (_, index) => first + 1 + index);
    return;
  }
  throw new Error('No free port was found on 127.0.0.1.');
}

async function listenOn(port: number): Promise<Server | undefined> {
  const server = createServer().listen({ port, host: '127.0.0.1', exclusive: true });
  try {
    await once(server, 'listening');
    return server;
  } catch {
    return undefined;
  }
}
