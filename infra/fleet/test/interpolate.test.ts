// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these strings are the input under test.
import { expect, test } from '@jest/globals';
import { interpolate, variablesIn } from '../src/interpolate.ts';

const values = { SET: 'x', EMPTY: '' };

test.each([
  ['${SET}', 'x'],
  ['$SET', 'x'],
  ['a ${SET}-${SET} b', 'a x-x b'],
  ['${NONE}', ''],
  ['${NONE:-else}', 'else'],
  ['${EMPTY:-else}', 'else'],
  ['${EMPTY-else}', ''],
  ['${SET:-else}', 'x'],
  ['${NONE-http://a:1/}', 'http://a:1/'],
  ['${EMPTY?missing}', ''],
  ['$$SET and $${SET}', '$SET and ${SET}'],
  ['costs 5$', 'costs 5$'],
])('%s is %s', (text, expected) => {
  expect(interpolate(text, values)).toBe(expected);
});

test('references inside a value are not substituted', () => {
  expect(interpolate('${A}', { A: '${B} $$ $&', B: 'no' })).toBe('${B} $$ $&');
});

test.each(['${NONE:?is needed}', '${EMPTY:?is needed}', '${NONE?is needed}'])(
  '%s is refused with its own message',
  (text) => {
    expect(() => interpolate(text, values)).toThrow(/^(NONE|EMPTY) is needed$/);
  },
);

test('the variables of a text are found', () => {
  expect(variablesIn('${A}, ${B:-c}, $D, $$E, ${F:?g}')).toEqual(['A', 'B', 'D', 'F']);
});
