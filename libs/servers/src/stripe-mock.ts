import { join } from 'node:path';
import { startChild } from './child.ts';
import { type Found, firstOf, given, type Missing, type Say } from './found.ts';
import { goProgram } from './go.ts';
import { freePort } from './port.ts';

export interface StripeMockOptions {
  /** The directory of its log. It is created if it is missing. */
  directory: string;
  /** The folder that keeps the program between runs. */
  cache: string;
  say: Say;
}

const VERSION = 'v0.203.0';
const PACKAGE = `github.com/stripe/stripe-mock@${VERSION}`;
const HINT = 'Install Go 1.22 or newer, or give STRIPE_MOCK_URL.';

/**
 * Stripe's own mock of its API, which checks requests against Stripe's OpenAPI document and keeps no state:
 * STRIPE_MOCK_URL, else one built by this machine's Go, which is installed first if possible.
 */
export async function findStripeMock(options: StripeMockOptions): Promise<Found | Missing> {
  const url = process.env.STRIPE_MOCK_URL;
  if (url) return given(`stripe-mock at ${url}`, url, 'STRIPE_MOCK_URL', trouble);
  return firstOf('stripe-mock', [() => local(options)], HINT, options.say);
}

async function local({ directory, cache, say }: StripeMockOptions): Promise<Found | string> {
  const program = await goProgram({ cache, say, from: { module: PACKAGE } });
  if (program === undefined) return 'go is not on PATH';
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  // By default it would listen for TLS on all addresses.
  const args = ['-http-addr', `127.0.0.1:${port}`, '-https-addr', '127.0.0.1:0'];
  const server = await startChild({ name: 'stripe-mock', program, args, log: join(directory, 'stripe-mock.log') });
  await server.ready(() => trouble(url), 30_000);
  return { found: `stripe-mock ${VERSION} on this machine, port ${port}`, url, stop: server.stop };
}

/** The reason why it does not respond, or undefined. */
async function trouble(url: string): Promise<string | undefined> {
  try {
    const headers = { authorization: 'Bearer sk_test_ping' };
    const response = await fetch(new URL('/v1/balance', url), { headers, signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.ok ? undefined : `it answers ${response.status}`;
  } catch (error) {
    return ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
  }
}
