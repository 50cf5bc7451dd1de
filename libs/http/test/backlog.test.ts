import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { eventually } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';

const systemLimit = '/proc/sys/net/core/somaxconn';
/** Twice what Node lets wait by default, where the system allows it. */
const connections = existsSync(systemLimit) ? Math.min(1_024, Number(readFileSync(systemLimit, 'utf8'))) : 128;

let child: ChildProcess | undefined;
let sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  child?.kill('SIGKILL');
});

test('a server that is busy for a moment loses no connection of a crowd: all are made meanwhile, and answered later', async () => {
  child = spawn(process.execPath, [join(import.meta.dirname, 'backlog.process.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  child.kill('SIGSTOP');
  let made = 0;
  sockets = Array.from({ length: connections }, () =>
    connect(Number(printed.toString()), '127.0.0.1', () => made++).on('error', () => {}),
  );
  await eventually(() => expect(made).toBe(connections));
  const answers = Promise.all(sockets.map(text));
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  child.kill('SIGCONT');
  for (const answer of await answers) expect(answer).toContain('done');
});
