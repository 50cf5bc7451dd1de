import type { Envelope } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { describe, expect, test } from '@jest/globals';
import { envelopeOf, letterOf, letterOfUnreadable, publishedPartOf } from '../src/letter.ts';
import { unreadable } from '../src/unreadable.ts';
import { accountId } from './support.ts';

const envelope = (data: Record<string, unknown>): Envelope => ({
  event_id: newUuid(),
  type: 'thing.counted',
  version: 1,
  account_id: accountId,
  key: 'a',
  occurred_at: new Date().toISOString(),
  traceparent: null,
  data,
});
const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);
const kept = (letter: unknown): unknown => JSON.parse(JSON.stringify(letter));

describe('a letter', () => {
  test.each([
    ['plain text', { text: 'a "quoted" [text] with \\ and { in it' }],
    ['levels', { levels: nested(150) }],
  ])('is its event as it is: %s', (_name, data) => {
    const event = envelope(data);
    expect(letterOf(event)).toBe(event);
    expect(envelopeOf(kept(event))).toEqual(event);
  });

  test.each([
    ['U+0000', { text: 'a\0b' }],
    ['half of a surrogate pair', { text: '\ud800' }],
    ['more levels than a database takes', { levels: nested(3_000) }],
  ])('is bytes where a database takes no such JSON, and still gives its event: %s', (_name, data) => {
    const event = envelope(data);
    const letter = letterOf(event);
    expect(Object.keys(letter)).toEqual(['type', 'base64']);
    expect(envelopeOf(kept(letter))).toEqual(event);
  });

  test('that is too large for a broker together with its reason is announced without its content', () => {
    expect(publishedPartOf(letterOf(envelope({ text: 'short' })))).toMatchObject({ data: { text: 'short' } });
    expect(publishedPartOf(letterOf(envelope({ text: 'x'.repeat(900_000) })))).toEqual({
      type: 'thing.counted',
      left_out: expect.any(Number),
    });
  });
});

test('what cannot be read has one id for each place and content', () => {
  const place = { topic: 'things', partition: 1, offset: '7', value: Buffer.from('x') };
  const { id } = unreadable(place, 'no');
  expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(unreadable(place, 'another reason').id).toBe(id);
  const others = [{ offset: '8' }, { partition: 2 }, { topic: 'others' }, { value: Buffer.from('y') }, { value: null }];
  expect(new Set([id, ...others.map((other) => unreadable({ ...place, ...other }, 'no').id)]).size).toBe(6);
  expect(letterOfUnreadable(unreadable({ ...place, value: null }, 'no'))).toMatchObject({ base64: null });
});
