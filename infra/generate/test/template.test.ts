import { expect, test } from '@jest/globals';
import { fill } from '../src/template.ts';

test('all lines of a value are indented like its placeholder', () => {
  expect(fill('list:\n  {{ some things }}\nend\n', { 'some things': '- one\n- two' })).toBe(
    'list:\n  - one\n  - two\nend\n',
  );
});

test('a placeholder within a line is replaced there', () => {
  expect(fill('  names: {{ names }} # all\n', { names: '[a, b]' })).toBe('  names: [a, b] # all\n');
});

test('other braces are left alone', () => {
  const text = 'summary: {{ $labels.service }}\n';
  expect(fill(text, {})).toBe(text);
});

test('a placeholder without a value is refused, and so is a value without a placeholder', () => {
  expect(() => fill('{{ names }}\n', {})).toThrow('placeholder "names" has no value');
  expect(() => fill('\n', { names: 'a' })).toThrow('no placeholder for "names"');
});
