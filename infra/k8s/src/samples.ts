import { generateInternalKeys, generateKeySets } from '@attribution/auth';

const token = generateKeySets('sample');
const internal = generateInternalKeys();
const json = (value: unknown) => JSON.stringify(value);

/**
 * What the secrets might hold, so that the code can judge an environment without them. A variable that stands here has
 * no place in the manifests but by reference.
 */
export const samples: Readonly<Record<string, string>> = {
  DATABASE_URL: 'postgresql://somebody:something@database/name',
  INTERNAL_PRIVATE_KEYS: json(internal.private.account),
  INTERNAL_PUBLIC_KEYS: json(internal.public),
  PASSWORD_PEPPER: 'p'.repeat(32),
  REDIS_URL: 'redis://:something@redis:6379',
  SECRET_KEYS: Buffer.alloc(32).toString('base64'),
  SMTP_URL: 'smtp://somebody:something@relay:587',
  STRIPE_SECRET_KEY: 'sample',
  STRIPE_WEBHOOK_SECRETS: 'sample',
  TOKEN_PRIVATE_KEYS: json(token.private),
  TOKEN_PUBLIC_KEYS: json(token.public),
};
