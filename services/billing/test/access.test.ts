import { endpoints } from '@attribution/contracts';
import { expect, test } from '@jest/globals';

/** Every endpoint of the contract except the provider's own. `conformance.test.ts` tests who may call which. */
const all = endpoints.filter(({ service, access }) => service === 'billing' && access.credential !== 'none');

test('every endpoint of the area needs billing access, and a token of a person or a key', () => {
  expect(all).toHaveLength(16);
  for (const { access } of all) expect(access).toMatchObject({ credential: 'any', billing: true });
});
