import { modulesLoadedBy, testKeys } from '@attribution/testing';
import { expect, test } from '@jest/globals';

const nowhere = 'http://127.0.0.1:1';
const environment = {
  PORT: '0',
  ACCOUNT_URL: nowhere,
  ORGANIZATION_URL: nowhere,
  CAMPAIGN_URL: nowhere,
  BILLING_URL: nowhere,
  TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public),
};
const programs = { 'its own': '../src/main.ts', "the image's": '../../infra/image/src/main.ts' };

test.each(Object.entries(programs))(
  'a gateway started by %s program has loaded neither Postgres nor Kafka code',
  async (_, program) => {
    const loaded = await modulesLoadedBy(new URL(program, import.meta.url), { ...environment, SERVICE: 'gateway' });
    expect(loaded).toContainEqual(expect.stringContaining('/gateway/src/pipeline.ts'));
    const packages = /\/node_modules\/(pg|pg-[^/]+|kafkajs|prisma|@prisma\/[^/]+)\//;
    const ownPackages = /\/libs\/(database|messaging|service)\//;
    expect(loaded.filter((url) => packages.test(url) || ownPackages.test(url))).toEqual([]);
  },
);
