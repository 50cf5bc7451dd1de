import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  accountCreated,
  accountPurged,
  createGroup,
  createLocation,
  deleteGroup,
  getGroup,
  listGroups,
  newId,
  updateGroup,
} from '@attribution/contracts';
import { keyToken, personToken, startTestService, type TestService } from '@attribution/testing';
import { createOrganizationService } from '../src/index.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService('organization', createOrganizationService);
});
afterAll(() => service.stop());

const as = (claims: Parameters<typeof personToken>[0]) => service.client.with({ token: personToken(claims) });

test('201: a group created with only a name has its defaults, and can be read back', async () => {
  const owner = as({ account: newId('account') });
  const created = await owner.call(createGroup, { body: { name: '  North ' } });
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({ name: 'North', description: null });
  const read = await owner.call(getGroup, { params: { id: created.body.id } });
  expect(read.body).toEqual(created.body);
});
