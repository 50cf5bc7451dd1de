import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const modulePath = join(import.meta.dirname, '../src/garbage-collection.ts');

test('V8 has the options: it only says that it ignores one that it does not know', () => {
  const program = `import { delayFullCollections } from '${modulePath}'; delayFullCollections(); console.log('done');`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { env: {} });
  expect([String(stdout), String(stderr)]).toEqual(['done\n', '']);
});
