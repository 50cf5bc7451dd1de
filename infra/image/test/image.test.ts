import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { commands } from '../src/index.ts';

const root = join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const dockerfile = read('Dockerfile');
const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM'));

test('the image has the versions of Node and pnpm that development uses', () => {
  const [, node, pnpm] = /versions = \{ node: '([^']+)', pnpm: '([^']+)' \}/.exec(read('infra/bootstrap.mjs')) ?? [];
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)]
    .map(([, base = '']) => base)
    .filter((base) => base.includes(':'));
  expect(bases).toEqual([expect.stringMatching(new RegExp(`^node:${node}-\\w+-slim(@sha256:[0-9a-f]{64})?$`))]);
  expect(dockerfile).toContain(`pnpm@${pnpm}\n`);
});

test('the image runs as an unprivileged user, and the program of its health check exists', () => {
  expect(last).toMatch(/^USER node$/m);
  const [, check = ''] = /^HEALTHCHECK[\s\S]*?CMD (\[.*\])$/m.exec(last) ?? [];
  const [program, file = ''] = JSON.parse(check) as string[];
  expect(program).toBe('node');
  expect(existsSync(join(root, file))).toBe(true);
});

test('the default command is the program that chooses by SERVICE and ROLE', () => {
  const [, command = ''] = /^CMD (\[.*\])$/m.exec(last) ?? [];
  expect((JSON.parse(command) as string[]).at(-1)).toBe(commands.process);
  expect(existsSync(join(root, commands.process))).toBe(true);
  expect(existsSync(join(root, commands.databases))).toBe(true);
});

test('the image has the program that decodes videos', () => {
  expect(last).toMatch(/apt-get install [^\n]* ffmpeg\b/);
});

test('`ops` can be run in the image, with everything that it imports', () => {
  expect(last).toMatch(/^COPY infra\/image\/bin\/ops \/usr\/local\/bin\/ops$/m);
  expect(statSync(join(root, 'infra/image/bin/ops')).mode & 0o111).toBe(0o111);
  const [, program = ''] = /exec node .*\/app\/(\S+) "\$@"$/m.exec(read('infra/image/bin/ops')) ?? [];
  expect(existsSync(join(root, program))).toBe(true);
  expect(last).toMatch(/^COPY infra\/ops infra\/ops$/m);
  expect(dockerfile).toMatch(/--prod .*--filter '@attribution\/ops\.\.\.'/);
});

test('everything that the image copies is in the repository, and .dockerignore keeps secrets from the builder', () => {
  const sources = [...dockerfile.matchAll(/^COPY (?!--from)(.+)$/gm)].flatMap(([, words = '']) =>
    words.split(' ').slice(0, -1),
  );
  const known = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const files = known.split('\n');
  for (const source of sources.filter((one) => one !== '.'))
    expect(files.some((file) => file === source || file.startsWith(`${source}/`))).toBe(true);
  const [first] = read('.dockerignore')
    .split('\n')
    .filter((line) => !line.startsWith('#'));
  expect(first).toBe('*');
});
