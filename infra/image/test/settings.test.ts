import { expect, test } from '@jest/globals';
import { commands, loadFaultsIn } from '../src/index.ts';

const faultsIn = await loadFaultsIn();
const faults = (environment: Record<string, string>) => faultsIn(commands.process, environment);
const migrating = {
  SERVICE: 'campaign',
  ROLE: 'migrate',
  DATABASE_URL: 'postgresql://campaign:x@postgres:5432/campaign',
};

test('what a process needs and no more has no fault', () => {
  expect(faults(migrating)).toEqual([]);
});

test('a variable that this process does not read is named', () => {
  expect(faults({ ...migrating, KAFKA_BROKERS: 'kafka:9092' })).toEqual(['KAFKA_BROKERS: nobody reads it']);
});

test('one that it needs is named, also when it is empty', () => {
  expect(faults({ ...migrating, DATABASE_URL: '' })).toEqual([expect.stringMatching(/^DATABASE_URL: /)]);
  const { DATABASE_URL: _, ...without } = migrating;
  expect(faults(without)).toEqual([expect.stringMatching(/^DATABASE_URL: /)]);
});

test('a role has its own needs: a worker publishes, an api does not', () => {
  const missing = (ROLE: string, SERVICE = 'campaign') => faults({ SERVICE, ROLE }).map((fault) => fault.split(':')[0]);
  expect(missing('worker')).toContain('KAFKA_BROKERS');
  expect(missing('api')).not.toContain('KAFKA_BROKERS');
  for (const callers of [missing('worker'), missing('api', 'account'), missing('all')])
    expect(callers).toContain('ORGANIZATION_URL');
  expect(missing('api')).not.toContain('ORGANIZATION_URL');
});

test('a value that does not fit is named, and not told', () => {
  const [fault = '', ...others] = faults({ ...migrating, DATABASE_URL: 'hunter2' });
  expect(fault).toMatch(/^DATABASE_URL: /);
  expect(fault).not.toContain('hunter2');
  expect(others).toEqual([]);
});

test('there is no such process', () => {
  expect(faults({ SERVICE: 'bakery' })).toEqual([expect.stringMatching(/^SERVICE: /)]);
  expect(faults({ SERVICE: 'gateway', ROLE: 'worker' })).toEqual(['ROLE: the gateway is an api and nothing else']);
  expect(faultsIn('infra/image/src/other.ts', {})).toEqual(['infra/image/src/other.ts is no program of the image']);
});
