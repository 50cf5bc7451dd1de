import {
  ACCESS_TOKEN_TTL,
  type AccessClaims,
  createSigner,
  generateInternalKeys,
  generateKeySets,
  internalOf,
} from '@attribution/auth';
import type { CallerName, ServiceName } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';

/** The signing keys of a test run's services. */
export const testKeys = generateKeySets('test');

export const testSigner = createSigner(testKeys.private);

/** The keys that services, the gateway and the ingress sign internal tokens with. */
export const testInternalKeys = generateInternalKeys();

/** The internal tokens of a service, of the gateway or of the ingress in a test run, to verify calls and to sign its own. */
export const testInternal = (self: CallerName) =>
  internalOf(self, testInternalKeys.private[self], testInternalKeys.public);

/** The token with which `caller` calls `target`. */
export const internalToken = (caller: CallerName, target: ServiceName): string => testInternal(caller).sign(target);

/** The token by which the ingress tells a service which device calls. */
export const deviceToken = (
  device: Parameters<ReturnType<typeof testInternal>['signDevice']>[1],
  target: ServiceName,
) => testInternal('ingress').signDevice(target, device);

/** The token of an operator's support session. */
export const supportToken = (claims: Claims = {}): string =>
  personToken({ sub: 'grace@attribution.example', role: 'admin', support: { reason: 'A test' }, ...claims });

type Claims = Partial<AccessClaims>;

/** A person's access token; by default the owner of a new account. */
export function personToken(claims: Claims = {}): string {
  const person = {
    sub: newId('user'),
    account: newId('account'),
    role: 'owner',
    account_type: 'network',
    sid: newUuid(),
  };
  return testSigner.sign('at+jwt', { ...person, ...claims }, ACCESS_TOKEN_TTL);
}

/** An API key's access token; by default of a read-only viewer key. */
export function keyToken(claims: Claims = {}): string {
  const key = {
    sub: newId('api_key'),
    account: newId('account'),
    role: 'viewer',
    account_type: 'network',
    key: { type: 'api', readonly: true },
  };
  return testSigner.sign('at+jwt', { ...key, ...claims }, ACCESS_TOKEN_TTL);
}
