import { expect, test } from '@jest/globals';
import { passesLuhn, readCard, testCards } from '../src/provider/simulated/cards.ts';
import { html } from '../src/provider/simulated/page/html.ts';
import { usableUrl } from '../src/provider/simulated/page/return-url.ts';
import { type Interval, periodEnd } from '../src/provider/simulated/period.ts';
import { prorate } from '../src/provider/simulated/proration.ts';
import { typed } from './simulated-support.ts';

const at = (iso: string) => Date.parse(iso) / 1000;

function ends(anchor: string, interval: Interval, count: number): string[] {
  const found: number[] = [];
  for (let start = at(anchor); found.length < count; start = found.at(-1) ?? start)
    found.push(periodEnd(at(anchor), start, interval));
  return found.map((end) => new Date(end * 1000).toISOString().slice(0, 16));
}

test('a period ends on the day of the month on which it began, or on the last day of a shorter month', () => {
  expect(ends('2027-01-31T10:30Z', 'month', 4)).toEqual([
    '2027-02-28T10:30',
    '2027-03-31T10:30',
    '2027-04-30T10:30',
    '2027-05-31T10:30',
  ]);
  expect(ends('2028-02-29T00:00Z', 'year', 4)).toEqual([
    '2029-02-28T00:00',
    '2030-02-28T00:00',
    '2031-02-28T00:00',
    '2032-02-29T00:00',
  ]);
});

const monthly = (amount: number) => ({ amount, interval: 'month' as const });
const period = { anchor: 0, start: 0, end: 1_000 };

test('a change of plan credits the remaining time at the old price and charges it at the new one, halves rounded up', () => {
  expect(prorate(period, monthly(4_900), monthly(19_900), 0)).toEqual({
    ...period,
    credit: 4_900,
    charge: 19_900,
    partial: true,
  });
  expect(prorate(period, monthly(4_900), monthly(19_900), 750)).toEqual({
    ...period,
    credit: 1_225,
    charge: 4_975,
    partial: true,
  });
  expect(prorate(period, monthly(1), monthly(3), 500)).toEqual({ ...period, credit: 1, charge: 2, partial: true });
  expect(prorate(period, monthly(1), monthly(3), 501)).toEqual({ ...period, credit: 0, charge: 1, partial: true });
  expect(prorate(period, monthly(4_900), monthly(19_900), 2_000)).toEqual({
    ...period,
    credit: 0,
    charge: 0,
    partial: true,
  });
});

test('amounts beyond the exact range of a double are prorated to the cent', () => {
  const year = { anchor: 0, start: 0, end: 31_536_001 };
  expect(prorate(year, monthly(630_720_019), monthly(1), 15_768_000).credit).toBe(315_360_019);
});

test('another interval begins a new period, charged in full', () => {
  const yearly = { amount: 40_000, interval: 'year' as const };
  const [start, end] = [at('2027-03-01T00:00Z'), at('2027-04-01T00:00Z')];
  const now = at('2027-03-16T12:00Z');
  expect(prorate({ anchor: start, start, end }, monthly(4_900), yearly, now)).toEqual({
    credit: 2_450,
    charge: 40_000,
    partial: false,
    anchor: now,
    start: now,
    end: at('2028-03-16T12:00Z'),
  });
});

test('every test card has a valid number', () => {
  for (const { number } of testCards) expect([number, passesLuhn(number)]).toEqual([number, true]);
  expect(passesLuhn('4242424242424241')).toBe(false);
});

const read = (over: Record<string, string>, now = '2030-06-15T00:00Z') =>
  readCard(new URLSearchParams(typed('succeeds', over)), new Date(now));

test('a card number is accepted with any spacing, and is not stored', () => {
  const card = { behaviour: 'succeeds', brand: 'visa', last4: '4242', exp_month: 6, exp_year: 2030 };
  for (const expiry of ['06/30', '6/30', '06 / 30', '06/2030', '0630']) expect(read({ expiry })).toEqual({ card });
  expect(read({ expiry: '06/30', number: '4242-4242-4242-4242' })).toEqual({ card });
});

test('a card is valid until the end of its month', () => {
  expect(read({ expiry: '06/30' }, '2030-06-30T23:59:59Z')).toHaveProperty('card');
  expect(read({ expiry: '06/30' }, '2030-07-01T00:00:00Z')).toEqual({ errors: { expiry: 'The card has expired.' } });
});

test('each invalid field is named', () => {
  const errors = expect.any(String);
  for (const expiry of ['', '13/30', '00/30', '1', 'soon'])
    expect(read({ expiry })).toEqual({ errors: { expiry: errors } });
  for (const cvc of ['', '12', '1234', 'abc']) expect(read({ cvc })).toEqual({ errors: { cvc: errors } });
  for (const number of ['', '4242424242424241', '12', 'abcd'])
    expect(read({ number })).toEqual({ errors: { number: 'This is not the number of a card.' } });
  expect(readCard(new URLSearchParams(), new Date())).toEqual({
    errors: { number: errors, expiry: errors, cvc: errors },
  });
});

test('a number that may be a real card is refused', () => {
  expect(read({ number: '5555555555554444' })).toEqual({
    errors: { number: 'Nothing is paid here: take one of the test cards.' },
  });
});

test('values in markup are escaped, also within lists; markup is not', () => {
  const value = `<b title="x" id='y'>&`;
  const escaped = '&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;';
  expect(html`<p>${value}</p>`.markup).toBe(`<p>${escaped}</p>`);
  expect(html`${[html`<i>${value}</i>`, value]}${undefined}${false}`.markup).toBe(`<i>${escaped}</i>${escaped}`);
});

test('a browser is redirected to web addresses only', () => {
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '/billing', '', 'app.example'])
    expect(usableUrl(url)).toBeUndefined();
  expect(usableUrl('https://app.example/x')?.href).toBe('https://app.example/x');
});
