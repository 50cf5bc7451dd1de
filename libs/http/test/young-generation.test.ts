import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

test('a checked value is gone with the next collection of new objects, valid or not (ADR 48)', async () => {
  const program = join(import.meta.dirname, 'young-generation.process.ts');
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program]);
  const left = JSON.parse(stdout) as Record<string, number>;
  expect(Object.keys(left)).toEqual(['valid', 'refused', 'of another type']);
  for (const count of Object.values(left)) expect(count).toBeLessThan(10);
});
