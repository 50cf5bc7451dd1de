import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { testServers } from '@attribution/testing';
import { expect, test } from '@jest/globals';

test('the rows of a query are gone with the next collection of new objects (ADR 48)', async () => {
  const program = [join(import.meta.dirname, 'young-generation.process.ts'), testServers.postgresUrl()];
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...program]);
  const left = JSON.parse(stdout) as Record<string, number>;
  expect(Object.keys(left)).toEqual(['pool', 'sql', 'transaction', 'session']);
  // A few are still referred to, such as the last one by its connection.
  for (const count of Object.values(left)) expect(count).toBeLessThan(30);
});
