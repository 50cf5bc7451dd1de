import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Those that this process was given: whoever asked for one may not listen yet. */
const given = new Set<number>();

/**
 * A free port of 127.0.0.1 that this process was not given before, below the ranges from which systems take ports for outgoing connections. Otherwise such a
 * connection could take the port of a server that needs seconds to start.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const port = randomInt(20_000, 32_000);
    if (given.has(port)) continue;
    given.add(port); // Before the wait, so that two calls at once differ.
    if (await isFree(port)) return port;
  }
  throw new Error('No free port was found on 127.0.0.1.');
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
