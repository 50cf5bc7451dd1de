import { accountCreated } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, startTestService, type TestService } from '@attribution/testing';
import billing from '../src/index.ts';

export { sendRaw } from '@attribution/testing';

/** Billing for tests that need no provider: the simulated one listens on its own port and is never called. */
export const startBilling = () =>
  startTestService(billing, {
    environment: { SIMULATED_PAYMENTS_URL: 'http://127.0.0.1:0' },
  });

type Claims = NonNullable<Parameters<typeof personToken>[0]>;

/** An account of its own for a test, and callers in it. */
export function newTenant(service: TestService) {
  const account = newId('account');
  const as = (claims: Claims = {}) => service.client.with({ token: personToken({ account, ...claims }) });
  return {
    account,
    owner: as(),
    /** A person; an owner unless the claims say otherwise. */
    as,
    key: (claims: Claims = {}) => service.client.with({ token: keyToken({ account, ...claims }) }),
    /** The data of the account's event account.created. */
    open: (name = 'Acme') => {
      const data = { account_id: account, name, account_type: 'network', owner_user_id: newId('user') };
      return service.deliver(accountCreated, data, account);
    },
  };
}
