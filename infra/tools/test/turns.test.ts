import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { fleets, later, turnsOf } from '../src/jest/turns.ts';
import { root } from '../src/workspace.ts';

const files = globSync('{gateway,libs,services,infra}/**/test/**/*.test.ts', {
  cwd: root,
  exclude: ['**/node_modules'],
});

test.each([...later, ...fleets])('%s matches existing files', (pattern) => {
  expect(files.filter((file) => new RegExp(pattern).test(file))).not.toEqual([]);
});

test('no file is in two of the other turns', () => {
  const isIn = (patterns: readonly string[], file: string) =>
    patterns.some((pattern) => new RegExp(pattern).test(file));
  expect(files.filter((file) => isIn(later, file) && isIn(fleets, file))).toEqual([]);
});

test('with arguments there is one turn, which waits for all servers', () => {
  expect(turnsOf(['gateway', '-w', '1'])).toEqual([
    { name: 'the files chosen', arguments: ['gateway', '-w', '1'], servers: 'all' },
  ]);
});
