import { createInternalSigner, generateInternalKeys, type KeySet } from '@attribution/auth';

const internalKeys = generateInternalKeys();

/** The keys that a service shares with others. */
export const serviceSettings = (
  keys: { readonly private: KeySet; readonly public: KeySet },
  service: 'account' | 'billing' | 'campaign' | 'device' | 'events' | 'organization' | 'utilities' = 'account',
) => ({
  TOKEN_PUBLIC_KEYS: JSON.stringify(keys.public),
  TOKEN_PRIVATE_KEYS: JSON.stringify(keys.private),
  INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private[service]),
  INTERNAL_PUBLIC_KEYS: JSON.stringify(internalKeys.public),
});

/** Signs what devices ask for: Device calls other services for them. */
export const signAsDevice = createInternalSigner('device', internalKeys.private.device);

/** Signs what the ingress asks. */
export const signAsIngress = createInternalSigner('ingress', internalKeys.private.ingress);

/** The key by which services know the ingress. */
export const ingressKeys = JSON.stringify(internalKeys.private.ingress);
