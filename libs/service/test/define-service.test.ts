import { createVerifier } from '@attribution/auth';
import { accountCreated, groupDeleted, type ServiceName } from '@attribution/contracts';
import { createInProcessTransport, on } from '@attribution/messaging';
import { captureLogs, openBareDatabase, problemBase, testInternal, testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { defineService, followGroups } from '../src/index.ts';

const nowhere = { ORGANIZATION_URL: 'http://127.0.0.1:1' };
const dependencies = (name: ServiceName, role?: 'api' | 'worker') => ({
  ...(role && { role }),
  databaseUrl: 'postgresql://nobody@127.0.0.1:1/nothing', // Not connected to before the first query.
  transport: createInProcessTransport(),
  verifier: createVerifier(testKeys.public),
  internal: testInternal(name),
  logger: captureLogs().logger,
  problemBase,
  checkAnswers: true,
});

const common = {
  name: 'utilities',
  summary: 'For tests',
  migrations: new URL('./nothing', import.meta.url),
  settings: z.object({ LIMIT: z.string() }),
  publishes: [],
  openDatabase: openBareDatabase,
} as const;

test('a service whose handlers differ from the events that it declares is not opened', async () => {
  const lacking = defineService({ ...common, handles: [accountCreated], open: () => ({ implementations: [] }) });
  expect(() => lacking.create(dependencies('utilities'), { LIMIT: '1' })).toThrow(
    'utilities declares that it handles account.created, but has handlers of nothing',
  );
  const handlers = [on(accountCreated, async () => {})];
  const undeclared = defineService({ ...common, open: () => ({ implementations: [], handlers }) });
  expect(() => undeclared.create(dependencies('utilities'), { LIMIT: '1' })).toThrow('handles nothing, but');
});

test('a service may follow only a service that its worker may call', () => {
  const follows = { groups: followGroups };
  const define = (calls: object) => () =>
    defineService({ ...common, calls, follows, open: () => ({ implementations: [] }) });
  expect(define({})).toThrow('utilities follows groups of organization: its worker has to be among its calls');
  expect(define({ organization: ['api'] })).toThrow('its worker has to be among its calls');
  expect(define({ organization: ['worker'] })().handles).toContain(groupDeleted);
});

test('a process needs the addresses of the services that it calls, and no others', async () => {
  const service = defineService({
    ...common,
    calls: { organization: ['worker'] },
    open: () => ({ implementations: [] }),
  });
  const open = (role: 'api' | 'worker', environment: Record<string, string>) =>
    service.create(dependencies('utilities', role), { LIMIT: '1', ...environment });
  expect(() => open('worker', {})).toThrow('ORGANIZATION_URL');
  await open('worker', nowhere).close();
  await open('api', {}).close();
  await open('api', nowhere).close();
});

test('settings are read, and checked together, when the service is opened', async () => {
  const seen: unknown[] = [];
  const service = defineService({
    ...common,
    check({ LIMIT }, { NODE_ENV }) {
      if (NODE_ENV === 'production' && LIMIT === '1') throw new Error('LIMIT is too small for production');
    },
    open({ config }) {
      seen.push(config);
      return { implementations: [] };
    },
  });
  expect(() => service.create(dependencies('utilities'), {})).toThrow('LIMIT');
  expect(() => service.create(dependencies('utilities'), { LIMIT: '1', NODE_ENV: 'production' })).toThrow('too small');
  await service.create(dependencies('utilities'), { LIMIT: '2', NODE_ENV: 'production' }).close();
  expect(seen).toEqual([{ LIMIT: '2' }]);
});
