import { createTestAuthority, modulesLoadedBy, testInternalKeys, testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';

const nowhere = 'http://127.0.0.1:1';
const environment = {
  PORT: '0',
  ACCOUNT_URL: nowhere,
  ORGANIZATION_URL: nowhere,
  CAMPAIGN_URL: nowhere,
  BILLING_URL: nowhere,
  DEVICE_URL: nowhere,
  EVENTS_URL: nowhere,
  UTILITIES_URL: nowhere,
  TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public),
};
const authority = createTestAuthority();
const server = authority.issueServer();
const forDevices = {
  DEVICE_PORT: '0',
  DEVICE_CA_CERTIFICATES: authority.root,
  DEVICE_TLS_CERTIFICATE: server.cert,
  DEVICE_TLS_KEY: server.key,
  INTERNAL_PRIVATE_KEYS: JSON.stringify(testInternalKeys.private.ingress),
};
const image = '../../infra/image/src/main.ts';

test.each([
  ['a gateway', 'its own', '../src/main.ts', { SERVICE: 'gateway' }],
  ['a gateway', "the image's", image, { SERVICE: 'gateway' }],
  ['an ingress', "the image's", image, { SERVICE: 'ingress', ...forDevices }],
])('%s started by %s program has loaded neither Postgres nor Kafka code', async (_what, _whose, program, settings) => {
  const loaded = await modulesLoadedBy(new URL(program, import.meta.url), { ...environment, ...settings });
  expect(loaded).toContainEqual(expect.stringContaining('/gateway/src/pipeline.ts'));
  const packages = /\/node_modules\/(pg|pg-[^/]+|kafkajs|prisma|@prisma\/[^/]+)\//;
  const ownPackages = /\/libs\/(database|messaging|service)\//;
  expect(loaded.filter((url) => packages.test(url) || ownPackages.test(url))).toEqual([]);
});
