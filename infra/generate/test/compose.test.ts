import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { composeFile } from '../src/compose.ts';
import { platform } from './platform.ts';

const template = readFileSync(join(import.meta.dirname, '../templates/docker-compose.yml'), 'utf8');
const text = composeFile(template, platform);
const file = parse(text, { merge: true }) as {
  services: Record<
    string,
    {
      environment: Record<string, string>;
      depends_on: Record<string, object>;
      volumes?: string[];
      ports?: string[];
    }
  >;
  volumes: Record<string, null>;
};
const generated = 'is made by npm run compose';

test('every service has a migration, an api and a worker, each of which waits for its dependencies', () => {
  for (const name of ['account', 'billing']) {
    const waits = (role: string) => Object.keys(file.services[`${name}-${role}`]?.depends_on ?? {});
    expect([waits('migrate'), waits('api'), waits('worker')]).toEqual([
      ['databases'],
      [`${name}-migrate`],
      [`${name}-migrate`],
    ]);
  }
});

test('a process gets its database, its keys, its required secrets and the variables of its definition, and no others', () => {
  const { environment } = file.services['account-api'] ?? {};
  expect(environment).toMatchObject({
    SERVICE: 'account',
    ROLE: 'api',
    DATABASE_URL: `postgresql://account_process:\${ACCOUNT_PROCESS_DATABASE_PASSWORD:?${generated}}@postgres:5432/account`,
    INTERNAL_PRIVATE_KEYS: `\${ACCOUNT_INTERNAL_PRIVATE_KEYS:?${generated}}`,
    RECIPE: `\${RECIPE:?${generated}}`,
    SIGNING_KEYS: `\${SIGNING_KEYS:?${generated}}`,
    SMTP_URL: 'smtp://mailpit:1025',
    OPEN: 'true',
  });
  expect(environment).not.toHaveProperty('COLOUR');
  expect(file.services['billing-api']?.environment).not.toHaveProperty('RECIPE');
});

test('where tables are append-only the processes have a role of their own, to which the migration, as the owner, gives its rights', () => {
  const owner = `postgresql://account:\${ACCOUNT_DATABASE_PASSWORD:?${generated}}@postgres:5432/account`;
  expect(file.services['account-migrate']?.environment).toMatchObject({
    DATABASE_URL: owner,
    DATABASE_PROCESS_ROLE: 'account_process',
  });
  expect(file.services.databases?.environment).toMatchObject({
    ACCOUNT_DATABASE_URL: owner,
    ACCOUNT_PROCESS_DATABASE_URL: file.services['account-worker']?.environment.DATABASE_URL,
  });
  const till = `postgresql://billing:\${BILLING_DATABASE_PASSWORD:?${generated}}@postgres:5432/billing`;
  expect(file.services['billing-api']?.environment.DATABASE_URL).toBe(till);
  expect(file.services['billing-migrate']?.environment).not.toHaveProperty('DATABASE_PROCESS_ROLE');
});

test('a service gets the addresses of the services that it calls, and the gateway those of all services', () => {
  const addresses = (name: string) =>
    Object.keys(file.services[name]?.environment ?? {}).filter((key) => /^(ACCOUNT|BILLING)_URL$/.test(key));
  expect(addresses('account-worker')).toEqual([]);
  expect(addresses('billing-worker')).toEqual(['ACCOUNT_URL']);
  expect(addresses('gateway')).toEqual(['ACCOUNT_URL', 'BILLING_URL']);
});

test('all processes of a service get its volumes, and one process its ports; each named volume is declared', () => {
  const { services, volumes } = file;
  expect(services['account-api']).toMatchObject({ volumes: ['till:/var/lib/till'] });
  expect(services['account-worker']).toMatchObject({ volumes: ['till:/var/lib/till'], ports: ['127.0.0.1:81:81'] });
  expect(services['account-api']).not.toHaveProperty('ports');
  expect(volumes).toHaveProperty('till');
});

test('the comment of a service is above its environment', () => {
  expect(text).toContain('# Its till is in a file.\nx-account: &account\n');
});
