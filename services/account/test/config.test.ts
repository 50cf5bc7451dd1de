import { randomBytes } from 'node:crypto';
import { readServiceConfig } from '@attribution/service';
import { testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import account from '../src/index.ts';

const key = randomBytes(32).toString('base64');
const complete = {
  TOKEN_PRIVATE_KEYS: JSON.stringify(testKeys.private),
  PASSWORD_PEPPER: 'a pepper for tests, of no worth at all',
  SECRET_KEYS: `${key}, ${key}`,
  ORGANIZATION_URL: 'http://organization:3000',
  MAIL_DIR: '/var/mail',
};

test('has the documented defaults', () => {
  expect(readServiceConfig(account, complete).config).toMatchObject({
    PASSWORD_MIN_LENGTH: 8,
    BCRYPT_COST: 12,
    AUDIT_LOG_DAYS: 730,
    SECRET_KEYS: [key, key],
    API_KEY_PREFIX: 'atp',
    API_KEY_ENVIRONMENT: 'stage',
    APP_URL: 'http://localhost:3000',
    MAIL_FROM: 'Attribution Platform <no-reply@attribution.example>',
  });
});

test.each([
  ['TOKEN_PRIVATE_KEYS', undefined],
  ['TOKEN_PRIVATE_KEYS', 'no json'],
  ['TOKEN_PRIVATE_KEYS', '{"keys":[]}'],
  ['PASSWORD_PEPPER', undefined],
  ['PASSWORD_PEPPER', 'too short a pepper'],
  ['PASSWORD_MIN_LENGTH', '7'],
  ['PASSWORD_MIN_LENGTH', 'eight'],
  ['BCRYPT_COST', '17'],
  ['AUDIT_LOG_DAYS', '365'],
  ['SECRET_KEYS', undefined],
  ['SECRET_KEYS', 'not base64!'],
  ['API_KEY_PREFIX', 'Under_score'],
  ['API_KEY_ENVIRONMENT', 'production'],
  ['ORGANIZATION_URL', undefined],
  ['ORGANIZATION_URL', 'no url'],
  ['SMTP_URL', 'no url'],
  ['SMTP_URL', undefined],
])('refuses to start with %s = %s, naming it and not showing its value', (name, value) => {
  const { MAIL_DIR: _, ...withoutMail } = complete;
  const environment = { ...(name === 'SMTP_URL' ? withoutMail : complete), [name]: value };
  const attempt = () => readServiceConfig(account, environment);
  expect(attempt).toThrow(`  ${name}`);
  if (value && !/^\w+$/.test(value)) expect(attempt).not.toThrow(value);
});
