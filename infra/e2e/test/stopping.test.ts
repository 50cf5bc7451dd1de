import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@attribution/servers';
import { createTestDatabase, eventually, personToken, testInternalKeys, testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';

/** Longer than clients may use a connection, after which a server that stops closes those that are idle. */
const takesMs = 6_000;

test('a request that was begun before SIGTERM and takes six seconds more is answered before the process ends', async () => {
  const { url: databaseUrl, drop } = await createTestDatabase('organization');
  const port = await freePort();
  const service = spawn(process.execPath, ['infra/image/src/main.ts'], {
    cwd: resolve(import.meta.dirname, '../../..'),
    env: {
      ...{ PATH: process.env.PATH, SERVICE: 'organization', ROLE: 'api', PORT: String(port), LAME_DUCK_MS: '100' },
      ...{ DATABASE_URL: databaseUrl, TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public), LOG_LEVEL: 'error' },
      INTERNAL_PRIVATE_KEYS: JSON.stringify(testInternalKeys.private.organization),
      INTERNAL_PUBLIC_KEYS: JSON.stringify(testInternalKeys.public),
      UTILITIES_URL: 'http://127.0.0.1:1', // It is not called.
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(service, 'exit');
  try {
    await eventually(async () => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200));
    const body = JSON.stringify({ name: 'North' });
    const headers = {
      authorization: `Bearer ${personToken()}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const slow = request({ port, method: 'POST', path: '/v2/groups', headers });
    const answered = once(slow, 'response') as Promise<[IncomingMessage]>;
    slow.write(body.slice(0, 5));
    await sleep(100);
    service.kill('SIGTERM');
    await sleep(takesMs);
    slow.end(body.slice(5));
    const [answer] = await answered;
    answer.resume();
    expect(answer.statusCode).toBe(201);
    expect(await ended).toEqual([0, null]);
  } finally {
    service.kill('SIGKILL');
    await ended;
    await drop();
  }
});
