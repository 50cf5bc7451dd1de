import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { root } from '../src/workspace.ts';

const file = 'docs/security.md';
const text = readFileSync(join(root, file), 'utf8');

/** How many requirements of level 1 and 2 each section of ASVS 5.0 has; in each they are numbered from 1. */
const sections: Readonly<Record<string, number>> = {
  ...{ '1.1': 2, '1.2': 9, '1.3': 11, '1.4': 3, '1.5': 2, '2.1': 3, '2.2': 3, '2.3': 4, '2.4': 1 },
  ...{ '3.2': 2, '3.3': 4, '3.4': 6, '3.5': 5, '3.7': 2, '4.1': 3, '4.2': 1, '4.3': 2, '4.4': 4 },
  ...{ '5.1': 1, '5.2': 3, '5.3': 2, '5.4': 3, '6.1': 3, '6.2': 12, '6.3': 4, '6.4': 4, '6.5': 5, '6.6': 3, '6.8': 4 },
  ...{ '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 2, '7.6': 2, '8.1': 2, '8.2': 3, '8.3': 1, '8.4': 1 },
  ...{ '9.1': 3, '9.2': 4, '10.1': 2, '10.2': 2, '10.3': 4, '10.4': 11, '10.5': 5, '10.6': 2, '10.7': 3 },
  ...{ '11.1': 2, '11.2': 3, '11.3': 3, '11.4': 4, '11.5': 1, '11.6': 1, '12.1': 3, '12.2': 2, '12.3': 4 },
  ...{ '13.1': 1, '13.2': 5, '13.3': 2, '13.4': 5, '14.1': 2, '14.2': 4, '14.3': 3, '15.1': 3, '15.2': 3, '15.3': 7 },
  ...{ '16.1': 1, '16.2': 5, '16.3': 4, '16.4': 3, '16.5': 3, '17.1': 1, '17.2': 4, '17.3': 2 },
};
const required = Object.entries(sections).flatMap(([section, count]) => numbered(section, 1, count));

function numbered(section: string, first: number, last: number): string[] {
  return Array.from({ length: last - first + 1 }, (_, at) => `${section}.${first + at}`);
}

/** `1.2.6-1.2.8` is three requirements. */
function idsOf(cell: string): string[] {
  return cell.split(', ').flatMap((part) => {
    const [, section = '', first = '', last = first] = /^(\d+\.\d+)\.(\d+)(?:-\1\.(\d+))?$/.exec(part) ?? [];
    return numbered(section, Number(first), Number(last));
  });
}

const rows = text
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\|[-|]+\|$/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

test('the security page has each requirement once, and no empty cell', () => {
  const ids = rows.filter(([id = '']) => /^\d+\.\d+\.\d+/.test(id)).flatMap(([id = '']) => idsOf(id));
  expect(ids.toSorted()).toEqual(required.toSorted());
  expect(rows.filter((cells) => cells.some((cell) => cell === ''))).toEqual([]);
});

test('every file that the security page names exists', () => {
  const paths = [...text.matchAll(/`((?:\.github|docs|gateway|infra|k8s|libs|services)\/[^`\s]+)`/g)];
  const links = [...text.matchAll(/\]\((?!https:)([^)#]+)/g)].map(([, link = '']) => join(dirname(file), link));
  const named = [...paths.map(([, path = '']) => path), ...links];
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
