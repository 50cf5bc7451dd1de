import { expect, test } from '@jest/globals';
import { fill } from '../src/template.ts';

test('what fills a hole has all its lines as far to the right as the hole', () => {
  expect(fill('list:\n  {{ some things }}\nend\n', { 'some things': '- one\n- two' })).toBe(
    'list:\n  - one\n  - two\nend\n',
  );
});

test('a hole within a line is filled there', () => {
  expect(fill('  names: {{ names }} # all\n', { names: '[a, b]' })).toBe('  names: [a, b] # all\n');
});

test('other braces are left alone', () => {
  const text = 'summary: {{ $labels.service }}\n';
  expect(fill(text, {})).toBe(text);
});

test('a hole that nothing fills is refused, and so is what has no hole', () => {
  expect(() => fill('{{ names }}\n', {})).toThrow('asks for "names"');
  expect(() => fill('\n', { names: 'a' })).toThrow('no place for "names"');
});
