import { createTestAuthority, testInternalKeys, testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { deviceUpstreamsAt, readGatewaySettings, readIngressSettings, upstreamsAt } from '../src/index.ts';

const authority = createTestAuthority();
const server = authority.issueServer();
const nowhere = () => 'http://127.0.0.1:1';
const edges = [
  {
    edge: 'gateway',
    read: readGatewaySettings,
    environment: { ...upstreamsAt(nowhere), TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public) },
  },
  {
    edge: 'ingress',
    read: readIngressSettings,
    environment: {
      ...deviceUpstreamsAt(nowhere),
      DEVICE_CA_CERTIFICATES: authority.root,
      DEVICE_TLS_CERTIFICATE: server.cert,
      DEVICE_TLS_KEY: server.key,
      INTERNAL_PRIVATE_KEYS: JSON.stringify(testInternalKeys.private.ingress),
    },
  },
] as const;

test.each(edges)('under REQUIRE_TLS the $edge refuses a Redis without TLS', ({ read, environment }) => {
  const given = { ...environment, REQUIRE_TLS: 'true' };
  expect(() => read({ ...given, REDIS_URL: 'redis://redis:6379' })).toThrow('REDIS_URL: must be a rediss: URL');
  for (const others of [{}, { REDIS_URL: 'rediss://:something@redis:6379' }])
    expect(read({ ...given, ...others })).toMatchObject({ REQUIRE_TLS: true, ...others });
});
