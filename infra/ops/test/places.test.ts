import { expect, test } from '@jest/globals';
import { findPlaces, takeService } from '../src/places.ts';
import { Refusal } from '../src/refusal.ts';

const note = {
  databases: { account: 'postgresql://here/account', billing: 'postgresql://here/billing' },
  environment: { SIMULATED_PAYMENTS_FILE: '/payments' },
};
const none = { service: undefined };
const found = (...args: Parameters<typeof findPlaces>) =>
  findPlaces(...args).map(({ service, url }) => `${service} ${url}`);

test('without a word in the environment they are those of what runs here, with what else its commands need', () => {
  expect(found({}, note, none)).toEqual(['account postgresql://here/account', 'billing postgresql://here/billing']);
  expect(findPlaces({}, note, { service: 'billing' })[0]?.environment).toEqual(note.environment);
});

test('those that the environment names come before what runs here: a command never reaches two fleets', () => {
  const environment = { ACCOUNT_DATABASE_URL: 'postgresql://there/account' };
  expect(found(environment, note, none)).toEqual(['account postgresql://there/account']);
  expect(() => findPlaces(environment, note, { service: 'billing' })).toThrow(/not that of billing/);
});

test('DATABASE_URL is the database of the service that is named, or of the SERVICE that a container is', () => {
  const environment = { DATABASE_URL: 'postgresql://there/x' };
  expect(found(environment, note, { service: 'campaign' })).toEqual(['campaign postgresql://there/x']);
  expect(found({ ...environment, SERVICE: 'billing' }, note, none)).toEqual(['billing postgresql://there/x']);
  expect(() => findPlaces(environment, note, none)).toThrow(/--service/);
  const container = { ...environment, SERVICE: 'account' };
  expect(() => findPlaces(container, note, { service: 'billing' })).toThrow(/those of account, not that of billing/);
});

test('where nothing is known, it is said what to set', () => {
  expect(() => findPlaces({}, undefined, none)).toThrow(Refusal);
  expect(() => findPlaces({}, undefined, { service: 'account' })).toThrow(/ACCOUNT_DATABASE_URL/);
});

test('a service is named by the first argument or by --service, and not by both in two ways', () => {
  expect(takeService(['campaign', 'groups'], undefined)).toEqual({ service: 'campaign', rest: ['groups'] });
  expect(takeService(['groups'], 'campaign')).toEqual({ service: 'campaign', rest: ['groups'] });
  expect(takeService(['account', 'groups'], 'account')).toEqual({ service: 'account', rest: ['groups'] });
  expect(() => takeService(['account'], 'billing')).toThrow(/two services/);
  expect(() => takeService([], 'acount')).toThrow(/not acount/);
});
