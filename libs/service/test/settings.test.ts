import { generateInternalKeys, generateKeySets } from '@attribution/auth';
import { readConfig } from '@attribution/runtime';
import { expect, test } from '@jest/globals';
import { serviceSettings } from '../src/roles.ts';

const internal = generateInternalKeys();
const given = {
  REQUIRE_TLS: 'true',
  DATABASE_URL: 'postgresql://somebody@database/name?sslmode=verify-full',
  TOKEN_PUBLIC_KEYS: JSON.stringify(generateKeySets('a test').public),
  INTERNAL_PRIVATE_KEYS: JSON.stringify(internal.private.account),
  INTERNAL_PUBLIC_KEYS: JSON.stringify(internal.public),
  KAFKA_BROKERS: 'kafka:9092',
  KAFKA_TLS: 'true',
  KAFKA_USERNAME: 'account',
  KAFKA_PASSWORD: 'something',
};

const roles = ['api', 'worker', 'all', 'migrate'] as const;

test.each(roles)('under REQUIRE_TLS a process of role %s starts with settings that all go over TLS', (role) => {
  expect(readConfig(serviceSettings[role], given)).toMatchObject({ REQUIRE_TLS: true });
});

test.each(
  roles.flatMap((role) =>
    ['', '?sslmode=require', '?sslmode=verify-full&sslmode=disable'].map((end) => ({ role, end })),
  ),
)(
  'under REQUIRE_TLS a process refuses a database without TLS, or whose certificate is not checked: %j',
  ({ role, end }) => {
    const environment = { ...given, DATABASE_URL: `postgresql://somebody@database/name${end}` };
    expect(() => readConfig(serviceSettings[role], environment)).toThrow('DATABASE_URL: needs sslmode=verify-full');
    expect(readConfig(serviceSettings[role], { ...environment, REQUIRE_TLS: 'false' })).toBeDefined();
  },
);

test.each(['worker', 'all'] as const)('under REQUIRE_TLS a %s refuses Kafka without TLS', (role) => {
  expect(() => readConfig(serviceSettings[role], { ...given, KAFKA_TLS: 'false' })).toThrow('KAFKA_TLS: must be true');
});

test.each([
  [{ KAFKA_PASSWORD: '' }, 'KAFKA_USERNAME: is given together with KAFKA_PASSWORD'],
  [
    { REQUIRE_TLS: 'false', KAFKA_TLS: 'false', KAFKA_SASL_MECHANISM: 'plain' },
    'KAFKA_SASL_MECHANISM: sends the password',
  ],
])('a worker refuses %j', (changed, why) => {
  expect(() => readConfig(serviceSettings.worker, { ...given, ...changed })).toThrow(why);
});
