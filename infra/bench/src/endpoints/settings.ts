import { generateInternalKeys, type KeySet } from '@attribution/auth';

const internalKeys = generateInternalKeys();

/** The variables that a service reads, except for its database. */
export const serviceSettings = (
  keys: { readonly private: KeySet; readonly public: KeySet },
  service: 'account' | 'billing' | 'organization' = 'account',
) => ({
  TOKEN_PUBLIC_KEYS: JSON.stringify(keys.public),
  TOKEN_PRIVATE_KEYS: JSON.stringify(keys.private),
  INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private[service]),
  INTERNAL_PUBLIC_KEYS: JSON.stringify(internalKeys.public),
  ACCOUNT_URL: 'http://127.0.0.1:1', // Nothing listens there; the cases need no calls between services.
  ORGANIZATION_URL: 'http://127.0.0.1:1',
  PASSWORD_PEPPER: 'a pepper for benchmarks, of no worth',
  SECRET_KEYS: Buffer.alloc(32, 7).toString('base64'),
  MAIL_DIR: '/nonexistent',
});
