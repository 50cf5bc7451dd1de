import { newId } from '@attribution/ids';
import { keyToken, personToken, startTestService, type TestService } from '@attribution/testing';
import utilities from '../src/index.ts';

export { sendRaw } from '@attribution/testing';

export const startUtilities = (environment: Readonly<Record<string, string>> = {}) =>
  startTestService(utilities, { environment });

type Claims = NonNullable<Parameters<typeof personToken>[0]>;

/** A new account for a test, with callers in it. */
export function newTenant(service: TestService) {
  const account = newId('account');
  const as = (claims: Claims = {}) => service.client.with({ token: personToken({ account, ...claims }) });
  return {
    account,
    as,
    owner: as(),
    token: personToken({ account }),
    /** A member narrowed to these groups. */
    narrowed: (groups: readonly string[]) =>
      as({ role: 'member', group_scope: 'selected', groups: Object.fromEntries(groups.map((id) => [id, 'm'])) }),
    key: (claims: Claims = {}) => service.client.with({ token: keyToken({ account, ...claims }) }),
  };
}
