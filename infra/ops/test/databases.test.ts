import { expect, test } from '@jest/globals';
import { findDatabases, takeService } from '../src/databases.ts';
import { Refusal } from '../src/refusal.ts';

const note = {
  databases: { account: 'postgresql://here/account', billing: 'postgresql://here/billing' },
  environment: { SIMULATED_PAYMENTS_FILE: '/payments' },
};
const none = { service: undefined };
const found = (...args: Parameters<typeof findDatabases>) =>
  findDatabases(...args).map(({ service, url }) => `${service} ${url}`);

test('without variables the databases are those of the platform that runs here, with its other variables', () => {
  expect(found({}, note, none)).toEqual(['account postgresql://here/account', 'billing postgresql://here/billing']);
  expect(findDatabases({}, note, { service: 'billing' })[0]?.environment).toEqual(note.environment);
});

test('databases that the environment names replace those of the platform that runs here: a command never mixes two fleets', () => {
  const environment = { ACCOUNT_DATABASE_URL: 'postgresql://there/account' };
  expect(found(environment, note, none)).toEqual(['account postgresql://there/account']);
  expect(() => findDatabases(environment, note, { service: 'billing' })).toThrow(/not that of billing/);
});

test("DATABASE_URL is the named service's database, or that of a container's SERVICE", () => {
  const environment = { DATABASE_URL: 'postgresql://there/x' };
  expect(found(environment, note, { service: 'campaign' })).toEqual(['campaign postgresql://there/x']);
  expect(found({ ...environment, SERVICE: 'billing' }, note, none)).toEqual(['billing postgresql://there/x']);
  expect(() => findDatabases(environment, note, none)).toThrow(/--service/);
  const container = { ...environment, SERVICE: 'account' };
  expect(() => findDatabases(container, note, { service: 'billing' })).toThrow(
    /databases of account are known, not that of billing/,
  );
});

test('when no database is known, the error names the variable to set', () => {
  expect(() => findDatabases({}, undefined, none)).toThrow(Refusal);
  expect(() => findDatabases({}, undefined, { service: 'account' })).toThrow(/ACCOUNT_DATABASE_URL/);
});

test('a service is named by the first argument or by --service, which must not contradict each other', () => {
  expect(takeService(['campaign', 'groups'], undefined)).toEqual({ service: 'campaign', rest: ['groups'] });
  expect(takeService(['groups'], 'campaign')).toEqual({ service: 'campaign', rest: ['groups'] });
  expect(takeService(['account', 'groups'], 'account')).toEqual({ service: 'account', rest: ['groups'] });
  expect(() => takeService(['account'], 'billing')).toThrow(/two services/);
  expect(() => takeService([], 'acount')).toThrow(/not acount/);
});
