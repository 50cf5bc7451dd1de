import type { ServiceName } from '@attribution/contracts';
import { deviceUpstreamsAt } from '@attribution/gateway';
import type { createTestAuthority } from '@attribution/testing';
import { ingressKeys } from '../endpoints/settings.ts';
import { startServer } from '../server.ts';

export type TestAuthority = ReturnType<typeof createTestAuthority>;

/** Starts an ingress before these services. `port`: default one that is free. */
export function startIngress(authority: TestAuthority, urlOf: (service: ServiceName) => string, port = 0) {
  const { cert, key } = authority.issueServer();
  return startServer(new URL('./ingress.server.ts', import.meta.url), {
    ...deviceUpstreamsAt(urlOf),
    DEVICE_TLS_CERTIFICATE: cert,
    DEVICE_TLS_KEY: key,
    DEVICE_CA_CERTIFICATES: authority.root,
    INTERNAL_PRIVATE_KEYS: ingressKeys,
    PROBLEM_BASE: 'https://problems.attribution.example',
    INGRESS_PORT: `${port}`,
  });
}
