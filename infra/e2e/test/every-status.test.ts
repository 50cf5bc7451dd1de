import {
  acceptInvitation,
  type Client,
  closeAccount,
  createApiKey,
  createInvitation,
  deleteApiKey,
  deviceEndpoints,
  endpoints,
  exchangeApiKey,
  forgotPassword,
  getApiKey,
  getMyPermissions,
  listAccountTypes,
  listApiKeys,
  listLedger,
  listPlans,
  login,
  logout,
  problemKinds,
  problemsOf,
  refreshSession,
  resendVerification,
  resetPassword,
  rotateApiKey,
  type Session,
  setUpMfa,
  signup,
  updateApiKey,
  updateUser,
  verifyEmail,
  verifyMfaChallenge,
  verifyMfaSetup,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { generateSync } from 'otplib';
import type { z } from 'zod';
import { type Answer, ofBilling, type ResponsesByStatus } from './every-status-billing.ts';
import { ofCampaign } from './every-status-campaign.ts';
import { ofDevices, ofDevicesThemselves } from './every-status-device.ts';
import { ofEvents } from './every-status-events.ts';
import { ofOrganization } from './every-status-organization.ts';
import { ofUtilities } from './every-status-utilities.ts';
import { fromSomewhere, newEmail, newOwner, password, startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
let owner: Awaited<ReturnType<typeof newOwner>>;
/** A member; members with access to Campaign only, and to Organization only; and a key. */
let member: Client;
let outsider: Client;
let visitor: Client;
let machine: Client;
/** A key of the owner's. */
let key: { readonly id: string; readonly access_key_id: string; readonly access_key_secret: string };
beforeAll(async () => {
  platform = await startTestPlatform();
  owner = await newOwner(platform);
  member = (await newMember()).client;
  outsider = await newMemberOf('campaign');
  visitor = await newMemberOf('organization');
  key = (await owner.client.call(createApiKey, { body: { name: 'Machine', role: 'admin' } })).body;
  machine = platform.client.with({ token: (await exchange(key)).body.access_token });
});
afterAll(() => platform.stop());

const anyone = () => platform.client.with({ headers: fromSomewhere() });

async function newMember() {
  const email = newEmail();
  await owner.client.call(createInvitation, { body: { email } });
  const token = await platform.mailbox.tokenFor(email);
  const body = { token, full_name: 'Grace Hopper', password };
  const session = (await anyone().call(acceptInvitation, { body })).body as z.output<typeof Session>;
  return { email, id: session.user.id, client: platform.client.with({ token: session.access_token }) };
}

/** A member with access to one service only. */
async function newMemberOf(service: 'campaign' | 'organization') {
  const { id, email } = await newMember();
  await owner.client.call(updateUser, { params: { id }, body: { services: { [service]: 'w' } } });
  return platform.client.with({ token: (await logIn(email)).access_token });
}

const logIn = async (email: string) =>
  (await anyone().call(login, { body: { email, password } })).body as z.output<typeof Session>;

const exchange = (halves: typeof key, client = anyone()) =>
  client.call(exchangeApiKey, {
    headers: { 'x-access-key-id': halves.access_key_id, 'x-access-key-secret': halves.access_key_secret },
  });

/** Makes so many calls from one address, and returns the last response. */
async function last(count: number, call: (client: Client) => Answer): Answer {
  const client = anyone();
  for (let n = 1; n < count; n++) await call(client);
  return call(client);
}

async function signedUp() {
  const email = newEmail();
  await anyone().call(signup, { body: { email, password, full_name: 'Ada Lovelace' } });
  return { email, code: await platform.mailbox.codeFor(email) };
}

/** An owner whose account is closed, with the token and a key from before. */
async function closed() {
  const { client, account_id } = await newOwner(platform);
  const made = (await client.call(createApiKey, { body: { name: 'Left over' } })).body;
  await client.call(closeAccount, { params: { id: account_id } });
  return { client, made };
}

/** The challenges of as many logins of one person. */
async function challenges(count: number) {
  const { email, client } = await newOwner(platform);
  const { secret } = (await client.call(setUpMfa)).body;
  const code = generateSync({ secret, epoch: Math.floor(platform.clock.now().getTime() / 1000) });
  await client.call(verifyMfaSetup, { body: { code } });
  const logins = Array.from({ length: count }, () => anyone().call(login, { body: { email, password } }));
  return (await Promise.all(logins)).map(({ body }) => body as unknown as { challenge_token: string });
}

/** Answers a challenge with a wrong code. */
const answerWrongly = (challenge: { challenge_token: string } | undefined) =>
  anyone().call(verifyMfaChallenge, { body: { challenge_token: '', ...challenge, code: '000000' } });

const sent = (body: object) => ({ body: body as never });
const someone = { email: 'nobody@example.com' };
const params = () => ({ id: key.id });
const unknownKey = { id: newId('api_key') };
const unknownGroup = { group_scope: 'selected' as const, groups: [newId('group')] };
const tokenless = (call: (client: Client) => Answer) => () => call(platform.client);

/** For the endpoints of §4.1 to §4.5, of the estate, of the look-ups, of devices, and of what these saw. */
const responses: ResponsesByStatus = {
  ...ofDevices({
    platform: () => platform,
    nobody: () => platform.client,
    owner: () => owner.client,
    member: () => member,
    outsider: () => outsider,
  }),
  ...ofDevicesThemselves({ platform: () => platform, owner: () => owner.client }),
  ...ofBilling({ platform: () => platform, owner: () => owner.client, member: () => member }),
  ...ofCampaign({ platform: () => platform, owner: () => owner, visitor: () => visitor }),
  ...ofEvents({ nobody: () => platform.client, owner: () => owner.client, outsider: () => outsider }),
  ...ofUtilities({ nobody: () => platform.client, owner: () => owner.client, outsider: () => outsider }),
  ...ofOrganization({
    nobody: () => platform.client,
    owner: () => owner.client,
    member: () => member,
    outsider: () => outsider,
    atLimit: async () => {
      const { client, account_id } = await newOwner(platform);
      const full = `INSERT INTO estate_totals (account_id, kind, change) VALUES ('${account_id}', 'group', 100000)`;
      await platform.rows('organization', full);
      return client;
    },
  }),
  signup: {
    400: () => anyone().call(signup, sent({ email: 'x' })),
    409: () => anyone().call(signup, { body: { email: owner.email.toUpperCase(), password, full_name: 'Ada' } }),
    429: () => last(6, (client) => client.call(signup, sent({}))),
  },
  verify_email: {
    400: async () => {
      const { email, code } = await signedUp();
      const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
      return anyone().call(verifyEmail, { body: { email, code: wrong } });
    },
    403: async () => {
      const { email, code } = await signedUp();
      await platform.rows('account', `UPDATE users SET disabled_at = now() WHERE email = '${email}'`);
      return anyone().call(verifyEmail, { body: { email, code } });
    },
    410: async () => {
      const body = await signedUp();
      await anyone().call(verifyEmail, { body });
      return anyone().call(verifyEmail, { body });
    },
    429: () => last(6, (client) => client.call(verifyEmail, sent({}))),
  },
  resend_verification: {
    400: () => anyone().call(resendVerification, sent({ email: 'x' })),
    429: () => last(4, (client) => client.call(resendVerification, { body: someone })),
  },
  login: {
    400: () => anyone().call(login, sent({ email: owner.email })),
    401: () => anyone().call(login, { body: { email: owner.email, password: 'a wrong guess' } }),
    403: async () => anyone().call(login, { body: { email: (await signedUp()).email, password } }),
    429: () => last(11, (client) => client.call(login, { body: { ...someone, password } })),
  },
  refresh_session: {
    400: () => anyone().call(refreshSession, sent({})),
    401: () => anyone().call(refreshSession, { body: { refresh_token: 'none of ours' } }),
    429: () => last(31, (client) => client.call(refreshSession, sent({}))),
  },
  forgot_password: {
    400: () => anyone().call(forgotPassword, sent({})),
    429: () => last(4, (client) => client.call(forgotPassword, { body: someone })),
  },
  reset_password: {
    400: () => anyone().call(resetPassword, sent({ ...someone, code: '12', new_password: password })),
    410: async () => {
      const { email } = await newOwner(platform);
      await anyone().call(forgotPassword, { body: { email } });
      const body = { email, code: await platform.mailbox.codeFor(email, 2), new_password: password };
      expect((await anyone().call(resetPassword, { body })).status).toBe(204);
      return anyone().call(resetPassword, { body });
    },
    429: () => last(6, (client) => client.call(resetPassword, sent({}))),
  },
  exchange_api_key: {
    401: () => exchange({ ...key, access_key_secret: 'x'.repeat(40) }),
    403: async () => exchange((await closed()).made),
    429: () => last(61, (client) => client.call(exchangeApiKey, { headers: {} } as never)),
  },
  logout: { 401: tokenless((client) => client.call(logout)), 403: () => machine.call(logout) },
  verify_mfa_challenge: {
    400: async () => answerWrongly((await challenges(1))[0]),
    401: () => answerWrongly({ challenge_token: 'none of ours' }),
    429: async () => {
      const opened = await challenges(5);
      for (const challenge of opened.slice(1)) for (let n = 0; n < 5; n++) await answerWrongly(challenge);
      return answerWrongly(opened[0]);
    },
  },
  list_ledger: {
    400: () => owner.client.call(listLedger, { params: { id: owner.account_id }, query: { limit: 0 } as never }),
    401: tokenless((client) => client.call(listLedger, { params: { id: owner.account_id } })),
    403: () => outsider.call(listLedger, { params: { id: owner.account_id } }),
    404: () => owner.client.call(listLedger, { params: { id: newId('account') } }),
  },
  get_my_permissions: {
    401: tokenless((client) => client.call(getMyPermissions)),
    403: () => machine.call(getMyPermissions),
  },
  list_plans: { 401: tokenless((client) => client.call(listPlans)), 403: () => outsider.call(listPlans) },
  list_account_types: {
    401: tokenless((client) => client.call(listAccountTypes)),
    403: () => outsider.call(listAccountTypes),
  },
  list_api_keys: { 401: tokenless((client) => client.call(listApiKeys)), 403: () => member.call(listApiKeys) },
  create_api_key: {
    400: () => owner.client.call(createApiKey, sent({})),
    401: tokenless((client) => client.call(createApiKey, { body: { name: 'x' } })),
    403: () => machine.call(createApiKey, { body: { name: 'x' } }),
    409: async () => (await closed()).client.call(createApiKey, { body: { name: 'x' } }),
    422: () => owner.client.call(createApiKey, { body: { name: 'x', ...unknownGroup } }),
  },
  get_api_key: {
    401: tokenless((client) => client.call(getApiKey, { params: params() })),
    403: () => machine.call(getApiKey, { params: params() }),
    404: async () => (await newOwner(platform)).client.call(getApiKey, { params: params() }),
  },
  update_api_key: {
    400: () => owner.client.call(updateApiKey, { params: params(), ...sent({ type: 'sim' }) }),
    401: tokenless((client) => client.call(updateApiKey, { params: params(), body: {} })),
    403: () => member.call(updateApiKey, { params: params(), body: {} }),
    404: () => owner.client.call(updateApiKey, { params: unknownKey, body: {} }),
    409: async () => {
      const { id } = (await owner.client.call(createApiKey, { body: { name: 'Brief' } })).body;
      await owner.client.call(deleteApiKey, { params: { id } });
      return owner.client.call(updateApiKey, { params: { id }, body: { name: 'Late' } });
    },
    422: () => owner.client.call(updateApiKey, { params: params(), body: unknownGroup }),
  },
  delete_api_key: {
    401: tokenless((client) => client.call(deleteApiKey, { params: params() })),
    403: () => member.call(deleteApiKey, { params: params() }),
    404: () => owner.client.call(deleteApiKey, { params: unknownKey }),
  },
  rotate_api_key: {
    400: () => owner.client.call(rotateApiKey, { params: params(), ...sent({ grace: 'soon' }) }),
    401: tokenless((client) => client.call(rotateApiKey, { params: params() })),
    403: () => member.call(rotateApiKey, { params: params() }),
    404: () => owner.client.call(rotateApiKey, { params: unknownKey }),
    409: async () => {
      const { id } = (await owner.client.call(createApiKey, { body: { name: 'Old' } })).body;
      await owner.client.call(rotateApiKey, { params: { id } });
      return owner.client.call(rotateApiKey, { params: { id } });
    },
  },
};

/** Statuses of failing services, which `failing-upstreams.test.ts` of the gateway tests for all endpoints. */
const failures = [502, 503];

const all = [...endpoints, ...deviceEndpoints];

describe.each(all.filter(({ operation }) => operation in responses))('$method $path', (endpoint) => {
  const cases = Object.entries(responses[endpoint.operation] ?? {}).map(
    ([status, request]) => [Number(status), request] as const,
  );

  test('every status in the contract has a case here', () => {
    const statuses = new Set(problemsOf(endpoint).map((kind) => problemKinds[kind].status));
    expect(cases.map(([status]) => status)).toEqual([...statuses].filter((status) => !failures.includes(status)));
  });

  test.each(cases)('answers %i', async (status, request) => {
    expect((await request()).status).toBe(status);
  });
});

test('every endpoint of §4.1 to §4.5, of the estate, of the look-ups, of devices and of what these saw has cases', () => {
  const ofServices: readonly string[] = ['billing', 'campaign', 'device', 'events', 'organization', 'utilities'];
  const tables =
    /^\/v2\/(auth\/|mfa\/challenge\/|accounts\/\{id\}\/ledger$|users\/me\/permissions$|plans$|account-types$|api-keys)/;
  const wanted = all
    .filter(({ path, service }) => tables.test(path) || ofServices.includes(service))
    .map(({ operation }) => operation);
  expect(Object.keys(responses).toSorted()).toEqual(wanted.toSorted());
});
