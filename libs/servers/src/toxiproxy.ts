import { join } from 'node:path';
import { startChild } from './child.ts';
import { type Found, firstOf, given, type Missing, type Say } from './found.ts';
import { goProgram } from './go.ts';
import { freePort } from './port.ts';

export interface ToxiproxyOptions {
  /** The directory of its log. It is created if it is missing. */
  directory: string;
  /** The folder that keeps the program between runs. */
  cache: string;
  say: Say;
}

const VERSION = 'v2.12.0';
const PROGRAM = { name: 'toxiproxy', module: `github.com/Shopify/toxiproxy/v2/cmd/server@${VERSION}` };
const HINT = 'Install Go 1.23 or newer, or give TEST_TOXIPROXY_URL.';

/**
 * Shopify's proxy, which delays and breaks connections on command: TEST_TOXIPROXY_URL, else one built by this machine's
 * Go, which is installed first if possible. The `url` is where it takes commands.
 */
export async function findToxiproxy(options: ToxiproxyOptions): Promise<Found | Missing> {
  const url = process.env.TEST_TOXIPROXY_URL;
  if (url) return given(`Toxiproxy at ${url}`, url, 'TEST_TOXIPROXY_URL', trouble);
  return firstOf('Toxiproxy', [() => local(options)], HINT, options.say);
}

async function local({ directory, cache, say }: ToxiproxyOptions): Promise<Found | string> {
  const program = await goProgram({ cache, say, from: PROGRAM });
  if (program === undefined) return 'go is not on PATH';
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const args = ['-host', '127.0.0.1', '-port', String(port)];
  const server = await startChild({ name: 'toxiproxy', program, args, log: join(directory, 'toxiproxy.log') });
  await server.ready(() => trouble(url), 30_000);
  return { found: `Toxiproxy ${VERSION} on this machine, port ${port}`, url, stop: server.stop };
}

/** The reason why it does not respond, or undefined. */
async function trouble(url: string): Promise<string | undefined> {
  try {
    const response = await fetch(new URL('/version', url), { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.ok ? undefined : `it answers ${response.status}`;
  } catch (error) {
    return ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
  }
}
