import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@attribution/servers';
import { createTestDatabase, personToken, testInternalKeys, testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { anyService, createMember } from '../faults/member.ts';

/** More than the four seconds of silence after which a service that stops closes idle connections. */
const takesMs = 6_000;

test('a request that was begun before SIGTERM and takes six seconds more is answered before the process ends', async () => {
  const { url: databaseUrl, drop } = await createTestDatabase('organization');
  const service = createMember({
    program: anyService,
    port: await freePort(),
    environment: {
      ...{ SERVICE: 'organization', ROLE: 'api', LAME_DUCK_MS: '100', LOG_LEVEL: 'error', DATABASE_URL: databaseUrl },
      TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public),
      INTERNAL_PRIVATE_KEYS: JSON.stringify(testInternalKeys.private.organization),
      INTERNAL_PUBLIC_KEYS: JSON.stringify(testInternalKeys.public),
      UTILITIES_URL: 'http://127.0.0.1:1', // It is not called.
    },
  });
  try {
    service.start();
    await service.alive();
    const body = JSON.stringify({ name: 'North' });
    const slow = request(`${service.url}/v2/groups`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${personToken()}`,
        'content-type': 'application/json',
        'content-length': body.length,
      },
    });
    const sendSlowly = async () => {
      slow.write(body.slice(0, 5));
      await sleep(100);
      const ending = service.end('SIGTERM');
      await sleep(takesMs);
      slow.end(body.slice(5));
      return ending;
    };
    const [[answer], ending] = await Promise.all([once(slow, 'response') as Promise<[IncomingMessage]>, sendSlowly()]);
    answer.resume();
    expect({ status: answer.statusCode, ending }).toEqual({ status: 201, ending: 0 });
  } finally {
    await service.end('SIGKILL');
    await drop();
  }
});
