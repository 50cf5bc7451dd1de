import { Problem } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { implement } from '../src/index.ts';
import { type App, declare, echoQuery, invalid, problemOf, startApp, thingId } from './support.ts';

const known = newId('campaign');
let app: App;
beforeAll(async () => {
  const find = implement(declare({ method: 'GET', path: '/v2/things/{id}', params: thingId }), async ({ params }) => {
    if (params.id !== known) throw Problem.notFound();
  });
  app = await startApp([echoQuery, find]);
});
afterAll(() => app.stop());

const query = (text: string) => app.send(`/v2/echo?${text}`);
const given = async (text: string) => (JSON.parse((await query(text)).text) as { given: unknown }).given;
const refused = async (text: string) => problemOf(await query(text));

describe('a query', () => {
  test('is parsed, with its defaults, and without parameters that the contract does not have', async () => {
    expect(await given('limit=7&name=a%20b+c&other=1')).toEqual({ limit: 7, name: 'a b c' });
    expect(await given('')).toEqual({ limit: 50 });
  });

  test.each([
    ['limit=5&limit=5', 'limit'],
    ['name=a&name=b', 'name'],
    ['name=a&limit=5&n%61me=b', 'name'],
    ['other=1&other=2', 'other'],
    ['__proto__=1&__proto__=2', '__proto__'],
    ['=1&=2', ''],
  ])('400: %s is given more than once', async (text, name) => {
    expect(await refused(text)).toEqual(invalid(`query.${name}: is given more than once; join values with commas.`));
  });

  test('400: the message about a repeated name is short, however long the name', async () => {
    const name = 'x'.repeat(3_000);
    const { status, detail } = await refused(`${name}=1&${name}=2`);
    expect(status).toBe(400);
    expect(detail.length).toBeLessThan(150);
  });

  test.each(['name=%00', 'name=a%00b', 'name=%ff', 'name=%C3', 'name=%ED%A0%80', 'name=%C0%80', 'other=%ff'])(
    '400: %s is not valid text',
    async (text) => {
      const name = text.slice(0, text.indexOf('='));
      expect(await refused(text)).toEqual(invalid(`query.${name}: contains characters that are not text.`));
    },
  );

  test('a percent sign that begins no escape stands for itself, as in URLs', async () => {
    expect(await given('name=100%&limit=2')).toEqual({ limit: 2, name: '100%' });
    expect(await given('name=%zz')).toEqual({ limit: 50, name: '%zz' });
  });

  test('brackets make neither lists nor objects', async () => {
    expect(await given('name[]=a&name[b]=c&limit[]=3')).toEqual({ limit: 50 });
  });

  test('names of inherited properties are unknown parameters', async () => {
    expect(await given('__proto__=1&constructor=2&toString=3&hasOwnProperty=4')).toEqual({ limit: 50 });
  });

  test('400: only the first fault is reported, with the value', async () => {
    expect(await refused(`name=${'n'.repeat(21)}&limit=0`)).toEqual(invalid('query.limit: must be at least 1, not 0.'));
    expect(await refused('limit=ten')).toEqual(
      invalid('query.limit: must be a whole number from 1 to 200, not "ten".'),
    );
  });
});

describe('404: an id', () => {
  const notFound = async (path: string) => {
    const { status, headers, text } = await app.send(path);
    return { status, text, media: headers['content-type'], length: headers['content-length'] };
  };

  test.each([
    ['of another kind', newId('group')],
    ['that is malformed', 'nothing'],
    ['in upper case', known.toUpperCase()],
    ['with one additional character', `${known}0`],
    ['with a NUL', `${known}%00`],
    ['with an invalid escape', '%zz'],
    ['with bytes that are not UTF-8', '%ff%fe'],
    ['with an encoded slash', 'a%2Fb'],
    ['with dots', '%2e%2e'],
    ['with a quote', "'--"],
    ['of ten thousand characters', 'x'.repeat(10_000)],
    ['named like an inherited property', '__proto__'],
  ])('%s is answered in the same bytes as one that is not there', async (_what, value) => {
    const missing = await notFound(`/v2/things/${newId('campaign')}`);
    expect(missing).toMatchObject({ status: 404, media: 'application/problem+json' });
    expect(await notFound(`/v2/things/${value}`)).toEqual(missing);
  });

  test('that is known is found, also when it is percent-encoded', async () => {
    expect((await app.send(`/v2/things/${known}`)).status).toBe(204);
    expect((await app.send(`/v2/things/${known.replace('_', '%5F')}`)).status).toBe(204);
  });
});
