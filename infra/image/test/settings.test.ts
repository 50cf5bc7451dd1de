import { expect, test } from '@jest/globals';
import { commands, loadFaultsIn } from '../src/index.ts';

const faultsIn = await loadFaultsIn();
const faults = (environment: Record<string, string>) => faultsIn(commands.process, environment);
const migrating = {
  SERVICE: 'campaign',
  ROLE: 'migrate',
  DATABASE_URL: 'postgresql://campaign:x@postgres:5432/campaign',
};

test('an environment with exactly what the process needs has no fault', () => {
  expect(faults(migrating)).toEqual([]);
});

test('a variable that the process does not read is named', () => {
  expect(faults({ ...migrating, KAFKA_BROKERS: 'kafka:9092' })).toEqual([
    'KAFKA_BROKERS: this process does not read it',
  ]);
});

test('a required variable that is missing or empty is named', () => {
  expect(faults({ ...migrating, DATABASE_URL: '' })).toEqual([expect.stringMatching(/^DATABASE_URL: /)]);
  const { DATABASE_URL: _, ...without } = migrating;
  expect(faults(without)).toEqual([expect.stringMatching(/^DATABASE_URL: /)]);
});

test('each role requires its own variables: a worker publishes, an api does not', () => {
  const missing = (ROLE: string, SERVICE = 'campaign') => faults({ SERVICE, ROLE }).map((fault) => fault.split(':')[0]);
  expect(missing('worker')).toContain('KAFKA_BROKERS');
  expect(missing('api')).not.toContain('KAFKA_BROKERS');
  for (const callers of [missing('worker'), missing('api', 'account'), missing('all')])
    expect(callers).toContain('ORGANIZATION_URL');
  expect(missing('api')).not.toContain('ORGANIZATION_URL');
});

test('an invalid value is reported by its variable, and is not shown', () => {
  const [fault = '', ...others] = faults({ ...migrating, DATABASE_URL: 'hunter2' });
  expect(fault).toMatch(/^DATABASE_URL: /);
  expect(fault).not.toContain('hunter2');
  expect(others).toEqual([]);
});

test('an unknown service, role or program is refused', () => {
  expect(faults({ SERVICE: 'bakery' })).toEqual([expect.stringMatching(/^SERVICE: /)]);
  expect(faults({ SERVICE: 'gateway', ROLE: 'worker' })).toEqual([
    'ROLE: the gateway and the ingress are an api and nothing else',
  ]);
  expect(faultsIn('infra/image/src/other.ts', {})).toEqual(['infra/image/src/other.ts is no program of the image']);
});
