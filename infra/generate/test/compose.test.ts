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
const made = 'is made by npm run compose';

test('every service is a migration, an api and a worker, each behind what it waits for', () => {
  for (const name of ['account', 'billing']) {
    const waits = (role: string) => Object.keys(file.services[`${name}-${role}`]?.depends_on ?? {});
    expect([waits('migrate'), waits('api'), waits('worker')]).toEqual([
      ['databases'],
      [`${name}-migrate`],
      [`${name}-migrate`],
    ]);
  }
});

test('a process is given its database, its own keys, its required secrets and what its definition says, and no other', () => {
  const { environment } = file.services['account-api'] ?? {};
  expect(environment).toMatchObject({
    SERVICE: 'account',
    ROLE: 'api',
    DATABASE_URL: `postgresql://account:\${ACCOUNT_DATABASE_PASSWORD:?${made}}@postgres:5432/account`,
    INTERNAL_PRIVATE_KEYS: `\${ACCOUNT_INTERNAL_PRIVATE_KEYS:?${made}}`,
    RECIPE: `\${RECIPE:?${made}}`,
    SIGNING_KEYS: `\${SIGNING_KEYS:?${made}}`,
    SMTP_URL: 'smtp://mailpit:1025',
    OPEN: 'true',
  });
  expect(environment).not.toHaveProperty('COLOUR');
  expect(file.services['billing-api']?.environment).not.toHaveProperty('RECIPE');
});

test('a service is told where those are whom it calls, and the gateway where everybody is', () => {
  const addresses = (name: string) =>
    Object.keys(file.services[name]?.environment ?? {}).filter((key) => /^(ACCOUNT|BILLING)_URL$/.test(key));
  expect(addresses('account-worker')).toEqual([]);
  expect(addresses('billing-worker')).toEqual(['ACCOUNT_URL']);
  expect(addresses('gateway')).toEqual(['ACCOUNT_URL', 'BILLING_URL']);
});

test('volumes are those of a service whole, ports those of one process; each named volume is declared', () => {
  const { services, volumes } = file;
  expect(services['account-api']).toMatchObject({ volumes: ['till:/var/lib/till'] });
  expect(services['account-worker']).toMatchObject({ volumes: ['till:/var/lib/till'], ports: ['127.0.0.1:81:81'] });
  expect(services['account-api']).not.toHaveProperty('ports');
  expect(volumes).toHaveProperty('till');
});

test('what a person should know of a service stands above it', () => {
  expect(text).toContain('# Its till is in a file.\nx-account: &account\n');
});
