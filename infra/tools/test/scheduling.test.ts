import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const source = join(import.meta.dirname, '../src/scheduling.ts');

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'scheduling-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A process that divides by thread, and then does something more. Resolves with what it said, and what the setting was before it exited. */
async function run(file: string, more = ''): Promise<string> {
  const program = `
    import { existsSync, readFileSync } from 'node:fs';
    import { divideByThread, exitWhenInterrupted } from ${JSON.stringify(source)};
    divideByThread(() => console.log('changed'), ${JSON.stringify(file)});
    if (existsSync(${JSON.stringify(file)})) console.log(readFileSync(${JSON.stringify(file)}, 'utf8').trim());
    ${more}
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  return stdout;
}

test('the setting is 0 while the process runs, and as before after it', async () => {
  const file = join(directory, 'setting');
  await writeFile(file, '1\n');
  expect(await run(file)).toBe('changed\n0\n');
  expect(await readFile(file, 'utf8')).toBe('1\n');
});

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
])('the setting is as before after an interruption by %s', async (signal, code) => {
  const file = join(directory, 'setting');
  await writeFile(file, '1\n');
  const interrupted = `
    exitWhenInterrupted();
    setInterval(() => {}, 1_000);
    process.kill(process.pid, '${signal}');
  `;
  await expect(run(file, interrupted)).rejects.toMatchObject({ code, stdout: 'changed\n0\n' });
  expect(await readFile(file, 'utf8')).toBe('1\n');
});

test('a setting that is 0 is left as it is', async () => {
  const file = join(directory, 'setting');
  await writeFile(file, '0\n');
  expect(await run(file)).toBe('0\n');
  expect(await readFile(file, 'utf8')).toBe('0\n');
});

test('a system without the setting is left as it is', async () => {
  expect(await run(join(directory, 'none'))).toBe('');
});
