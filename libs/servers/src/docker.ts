import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { tether } from './child.ts';
import type { Found, Say } from './found.ts';
import { freePort } from './port.ts';
import { run, tail, which } from './which.ts';

export interface Container {
  image: string;
  /** Arguments of `docker run` around the image, for the host's port of 127.0.0.1. */
  args(port: number): { before: string[]; after: string[] };
  url(port: number): string;
  trouble(url: string): Promise<string | undefined>;
}

/** Whether the Docker client has an engine. If Docker is stopped, the client hangs. */
async function dockerAnswers(): Promise<boolean> {
  return (await which('docker')) !== undefined && (await run('docker', ['info'], { ms: 3_000 })).ok;
}

/** Runs a container that is removed by stop(), and when this process has ended. */
export async function inDocker(container: Container, say: Say): Promise<Found | string> {
  if (!(await dockerAnswers())) return 'no Docker engine answers';
  const { image } = container;
  if (!(await run('docker', ['image', 'inspect', image], { ms: 10_000 })).ok) {
    say(`Docker: pulling ${image}…`);
    await docker(['pull', '--quiet', image], 10 * 60_000);
  }
  say(`Docker: starting ${image}…`);
  const port = await freePort();
  const name = `attribution-test-${randomUUID()}`;
  const { before, after } = container.args(port);
  const release = tether(['docker', 'rm', '-f', '-v', name]);
  const remove = async () => {
    await run('docker', ['rm', '-f', '-v', name], { ms: 30_000 });
    release();
  };
  try {
    await docker(['run', '--rm', '--detach', '--name', name, ...before, image, ...after], 60_000);
    await untilReady(name, container, container.url(port));
  } catch (error) {
    await remove();
    throw error;
  }
  let removed: Promise<void> | undefined;
  return {
    found: `${image} in Docker, port ${port}`,
    url: container.url(port),
    stop: () => (removed ??= remove()),
  };
}

async function untilReady(name: string, { image, trouble }: Container, url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const reason = await trouble(url);
    if (reason === undefined) return;
    if (Date.now() > deadline) {
      const { output } = await run('docker', ['logs', '--tail', '15', name], { ms: 10_000 });
      throw new Error(`${image} in Docker did not start: ${reason}\n${output}`);
    }
    await sleep(100);
  }
}

async function docker(args: string[], ms: number): Promise<void> {
  const { ok, output } = await run('docker', args, { ms });
  if (!ok) throw new Error(`docker ${args[0]} failed: ${tail(output, 5)}`);
}
