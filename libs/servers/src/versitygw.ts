import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startChild } from './child.ts';
import { type Found, firstOf, given, type Missing, type Say } from './found.ts';
import { goProgram } from './go.ts';
import { freePort } from './port.ts';

export interface VersitygwOptions {
  /** The directory of its log and of its objects. It is created if it is missing. */
  directory: string;
  /** The folder that keeps the program between runs. */
  cache: string;
  say: Say;
}

const VERSION = 'v1.8.0';
const PACKAGE = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`;
const HINT = 'Install Go 1.25 or newer, or give TEST_S3_URL (http://<key id>:<secret key>@host:port).';

/** Credentials of no worth. */
const [keyId, secretKey] = ['tests', 'a-secret-of-no-worth'];

/**
 * A server that speaks S3 over a folder: TEST_S3_URL, else Versity's gateway, built by this machine's Go, which is installed
 * first if possible. The `url` contains the credentials. Buckets are made by tests.
 */
export async function findVersitygw(options: VersitygwOptions): Promise<Found | Missing> {
  const url = process.env.TEST_S3_URL;
  if (url) return given('An S3-compatible store', url, 'TEST_S3_URL', trouble);
  return firstOf('versitygw', [() => local(options)], HINT, options.say);
}

async function local({ directory, cache, say }: VersitygwOptions): Promise<Found | string> {
  const program = await goProgram({ cache, say, from: { module: PACKAGE } });
  if (program === undefined) return 'go is not on PATH';
  const port = await freePort();
  const url = `http://${keyId}:${secretKey}@127.0.0.1:${port}`;
  // Attributes of objects go into files: not every file system has attributes.
  const [objects, attributes] = [join(directory, 'objects'), join(directory, 'attributes')];
  for (const folder of [objects, attributes]) await mkdir(folder, { recursive: true });
  const server = await startChild({
    name: 'versitygw',
    program,
    args: [
      ...['--quiet', '--port', `127.0.0.1:${port}`, '--access', keyId, '--secret', secretKey, '--keep-alive'],
      ...['posix', '--sidecar', attributes, objects],
    ],
    log: join(directory, 'versitygw.log'),
  });
  await server.ready(() => trouble(url), 30_000);
  return { found: `versitygw ${VERSION} on this machine, port ${port}`, url, stop: server.stop };
}

/** The reason why it does not respond, or undefined. It refuses whoever does not sign the request. */
async function trouble(url: string): Promise<string | undefined> {
  try {
    const { host, protocol } = new URL(url);
    const response = await fetch(`${protocol}//${host}/`, { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.status < 500 ? undefined : `it answers ${response.status}`;
  } catch (error) {
    return ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
  }
}
