import { createSigner, generateInternalKeys, internalOf, KeysSetting, type TokenType } from '@attribution/auth';
import { type CallerName, callerNames, type Endpoint, endpoints, internalEndpoints } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fromSomewhere, newOwner, startTestPlatform, type TestPlatform } from './support.ts';

/** Callers without a valid access token. */
const strangers = [
  'none',
  'garbage',
  'expired',
  'MFA challenge',
  'MFA set-up',
  'internal',
  'about a device',
  'of another platform',
] as const;
/** Callers with a valid access token, in the order of the columns below. The member has no billing access. */
const callers = [
  'member',
  'admin',
  'owner',
  'support',
  'viewer key',
  'read-only key',
  'member key',
  'admin key',
] as const;

/** What each caller gets: `+` is access (whatever the status of the request then is), 1 is 401, 3 is 403, 4 is 404. */
const rules = {
  /** The token is ignored. */
  open: '+ + + + + + + +',
  /** For people, and without a token. */
  optional: '+ + + 3 3 3 3 3',
  /** For people, or with a set-up token in the body. */
  'session or set-up token': '+ + + 3 3 3 3 3',
  /** The credentials are in other headers, without which every caller gets 401. */
  exchange: '1 1 1 1 1 1 1 1',
  read: '+ + + + + + + +',
  write: '+ + + 3 3 3 + +',
  'read by people': '+ + + + 3 3 3 3',
  'written by people': '+ + + 3 3 3 3 3',
  'own matters': '+ + + 3 3 3 3 3',
  /** A key that may write gets 204, without any effect (decision 17). */
  logout: '+ + + 3 3 3 + +',
  'read by admins': '3 + + + 3 3 3 3',
  'written by admins': '3 + + 3 3 3 3 3',
  'written by the owner': '3 3 + 3 3 3 3 3',
  'read with billing access': '3 + + + 3 + 3 +',
  'written with billing access': '3 + + 3 3 3 3 +',
  /** Does not exist at the gateway. */
  internal: '4 4 4 4 4 4 4 4',
} as const;

const table: Readonly<Record<string, keyof typeof rules>> = {
  signup: 'open',
  verify_email: 'open',
  resend_verification: 'open',
  login: 'open',
  refresh_session: 'open',
  forgot_password: 'open',
  reset_password: 'open',
  exchange_api_key: 'exchange',
  logout: 'logout',
  verify_mfa_challenge: 'open',
  set_up_mfa: 'session or set-up token',
  verify_mfa_setup: 'optional',
  renew_recovery_codes: 'own matters',
  disable_mfa: 'own matters',
  get_me: 'own matters',
  update_me: 'own matters',
  change_password: 'own matters',
  list_sessions: 'own matters',
  end_session: 'own matters',
  get_my_permissions: 'own matters',
  list_accounts: 'own matters',
  switch_account: 'own matters',
  list_users: 'read by people',
  get_user: 'read by people',
  update_user: 'written by admins',
  remove_user: 'written by admins',
  list_invitations: 'read by admins',
  create_invitation: 'written by admins',
  resend_invitation: 'written by admins',
  delete_invitation: 'written by admins',
  accept_invitation: 'optional',
  get_account: 'read by people',
  update_account: 'written by the owner',
  close_account: 'written by the owner',
  transfer_ownership: 'written by the owner',
  list_ledger: 'read',
  get_balance: 'read',
  list_plans: 'read',
  list_account_types: 'read',
  list_audit_log: 'read by admins',
  list_api_keys: 'read by admins',
  create_api_key: 'written by admins',
  get_api_key: 'read by admins',
  update_api_key: 'written by admins',
  delete_api_key: 'written by admins',
  rotate_api_key: 'written by admins',
  list_groups: 'read',
  get_group: 'read',
  create_group: 'written by admins',
  update_group: 'written by admins',
  delete_group: 'written by admins',
  list_locations: 'read',
  get_location: 'read',
  create_location: 'written by people',
  update_location: 'written by people',
  delete_location: 'written by people',
  list_zones: 'read',
  get_zone: 'read',
  create_zone: 'written by people',
  update_zone: 'written by people',
  delete_zone: 'written by people',
  list_screens: 'read',
  get_screen: 'read',
  create_screen: 'written by people',
  update_screen: 'written by people',
  delete_screen: 'written by people',
  list_installations: 'read',
  get_installation: 'read',
  create_installation: 'written by people',
  update_installation: 'written by people',
  delete_installation: 'written by people',
  list_cameras: 'read',
  get_camera: 'read',
  create_camera: 'written by people',
  update_camera: 'written by people',
  delete_camera: 'written by people',
  match_screens: 'read',
  import_estate: 'written by admins',
  list_estate_imports: 'read by people',
  get_estate_import: 'read by people',
  get_estate_import_report: 'read by people',
  export_estate: 'read',
  list_campaigns: 'read',
  get_campaign: 'read',
  create_campaign: 'write',
  update_campaign: 'write',
  list_devices: 'read',
  get_device: 'read',
  list_device_faults: 'read',
  claim_device: 'written by admins',
  update_device: 'written by admins',
  change_device_config: 'written by admins',
  suspend_device: 'written by admins',
  resume_device: 'written by admins',
  retire_device: 'written by admins',
  revoke_device_certificate: 'written by admins',
  list_ads: 'read',
  create_ad: 'write',
  get_ad: 'read',
  update_ad: 'write',
  delete_ad: 'write',
  get_ad_profile: 'read',
  replace_ad_profile: 'write',
  delete_ad_profile: 'write',
  set_campaign_target: 'write',
  add_campaign_ad: 'write',
  update_campaign_ad: 'write',
  remove_campaign_ad: 'write',
  validate_campaign: 'write',
  publish_campaign: 'write',
  revise_campaign: 'write',
  discard_campaign_draft: 'write',
  archive_campaign: 'write',
  list_campaign_versions: 'read',
  get_campaign_version: 'read',
  list_campaign_placements: 'read',
  list_campaign_scores: 'read',
  score_campaign: 'write',
  list_media_libraries: 'read',
  create_media_library: 'write',
  get_media_library: 'read',
  update_media_library: 'write',
  delete_media_library: 'write',
  list_ad_libraries: 'read',
  create_ad_library: 'write',
  get_ad_library: 'read',
  update_ad_library: 'write',
  delete_ad_library: 'write',
  list_media_assets: 'read',
  create_media_asset: 'write',
  get_media_asset: 'read',
  delete_media_asset: 'write',
  renew_media_upload: 'write',
  complete_media_asset: 'write',
  get_media_analysis: 'read',
  receive_media_upload: 'open',
  send_media_file: 'open',
  get_job: 'read',
  get_billing_summary: 'read with billing access',
  list_plan_prices: 'read with billing access',
  list_usage_prices: 'read with billing access',
  create_checkout_session: 'written with billing access',
  get_checkout_session: 'read with billing access',
  list_payments: 'read with billing access',
  get_payment: 'read with billing access',
  list_refunds: 'read with billing access',
  get_refund: 'read with billing access',
  cancel_subscription: 'written with billing access',
  resume_subscription: 'written with billing access',
  change_plan: 'written with billing access',
  list_money_entries: 'read with billing access',
  list_payment_methods: 'read with billing access',
  add_payment_method: 'written with billing access',
  remove_payment_method: 'written with billing access',
  receive_stripe_webhook: 'open',
  geocode: 'read',
  reverse_geocode: 'read',
  timezone: 'read',
  coverage: 'read',
  weather: 'read',
  context: 'read',
  summarize_visits: 'read',
  get_visits_timeseries: 'read',
  get_visits_dwell: 'read',
  list_plays: 'read',
  list_quarantine: 'read',
  summarize_loyalty: 'read',
  list_cohorts: 'read',
  list_blacklist: 'read',
  create_blacklist_entry: 'write',
  get_blacklist_entry: 'read',
  delete_blacklist_entry: 'write',
  get_campaign_performance: 'read',
  get_campaign_timeseries: 'read',
  get_campaign_lift: 'read',
  create_token_grant: 'internal',
  create_token_hold: 'internal',
  capture_token_hold: 'internal',
  void_token_hold: 'internal',
  create_machine_key: 'internal',
  create_support_session: 'internal',
  record_refusals: 'internal',
  look_up_groups: 'internal',
  estate_snapshot: 'internal',
  look_up_estate: 'internal',
  get_device_manifest: 'internal',
  list_published_versions: 'internal',
  find_campaigns_in_sight: 'internal',
  get_usage_price: 'internal',
  create_refund: 'internal',
  import_devices: 'internal',
  find_device_certificate: 'internal',
  relay_heartbeats: 'internal',
  rebuild_rollups: 'internal',
  look_up_time_zone: 'internal',
};

/** The services, the gateway or the ingress that may call each Internal endpoint; all others get 403. */
const services: Readonly<Record<string, string>> = {
  create_token_grant: 'billing campaign',
  create_token_hold: 'billing campaign',
  capture_token_hold: 'campaign',
  void_token_hold: 'campaign',
  create_machine_key: 'device',
  create_support_session: 'account',
  record_refusals: 'gateway',
  look_up_groups: 'account',
  estate_snapshot: 'account campaign device events utilities',
  look_up_estate: 'events',
  get_device_manifest: 'device',
  list_published_versions: 'events',
  find_campaigns_in_sight: 'events',
  get_usage_price: 'campaign',
  create_refund: 'billing',
  import_devices: 'device',
  find_device_certificate: 'ingress',
  relay_heartbeats: 'ingress',
  rebuild_rollups: 'events',
  look_up_time_zone: 'organization',
};

let platform: TestPlatform;
let tokens: Readonly<Record<string, string | undefined>>;
beforeAll(async () => {
  platform = await startTestPlatform();
  const { user_id, account_id, session } = await newOwner(platform);
  tokens = mintTokens(user_id, account_id, sessionOf(session.access_token));
});
afterAll(() => platform.stop());

const sessionOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }).sid;

function mintTokens(userId: string, accountId: string, sid: string): Record<string, string | undefined> {
  const signer = createSigner(KeysSetting.parse(platform.secrets.token_keys.private));
  const person = { sub: userId, account: accountId, account_type: 'network', sid };
  const sign = (claims: object, type: TokenType = 'at+jwt', seconds = 3_600) =>
    signer.sign(type, { ...person, role: 'owner', ...claims }, seconds);
  const key = (role: string, readonly: boolean, more = {}) =>
    sign({ sub: newId('api_key'), sid: undefined, role, key: { type: 'api', readonly }, ...more });
  const strange = generateInternalKeys();
  return {
    none: undefined,
    garbage: 'garbage',
    expired: sign({}, 'at+jwt', -1),
    'MFA challenge': sign({ jti: newUuid() }, 'mfa-challenge+jwt'),
    'MFA set-up': sign({ jti: newUuid() }, 'mfa-setup+jwt'),
    internal: internalOf('billing', strange.private.billing, strange.public).sign('account'),
    'about a device': internalOf('ingress', strange.private.ingress, strange.public).signDevice('account', {
      ...{ id: newId('device'), accountId, fingerprint: 'a'.repeat(64) },
    }),
    'of another platform': createSigner(strange.private.account).sign('at+jwt', { ...person, role: 'owner' }, 300),
    member: sign({ role: 'member', bil: 'n' }),
    admin: sign({ role: 'admin' }),
    owner: sign({}),
    support: sign({ sub: 'grace@attribution.example', sid: undefined, role: 'admin', support: { reason: 'A test' } }),
    'viewer key': key('viewer', true, { bil: 'n' }),
    'read-only key': key('admin', true),
    'member key': key('member', false, { bil: 'n' }),
    'admin key': key('admin', false),
  };
}

/** Sends a request for a resource that does not exist, and returns the status. */
async function ask({ method, path, body, upload }: Endpoint, caller: string): Promise<number> {
  const token = tokens[caller];
  const response = await fetch(platform.url + path.replaceAll(/\{[a-z_]+\}/g, 'nothing'), {
    method,
    headers: {
      ...fromSomewhere(),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...(upload && { 'content-type': upload.media[0] }),
    },
    ...(body && { body: '{}' }),
  });
  await response.arrayBuffer();
  return response.status;
}

/** Translates a status into the table's notation. */
const letterOf = (status: number, isInternal: boolean) =>
  status === 401 ? '1' : status === 403 ? '3' : status === 404 && isInternal ? '4' : status < 500 ? '+' : `${status}`;

const strangersGet = (rule: keyof typeof rules): string => {
  if (rule === 'open') return '+ + + + + + + +';
  if (rule === 'optional') return '+ 1 1 1 1 1 1 1';
  return rule === 'internal' ? '4 4 4 4 4 4 4 4' : '1 1 1 1 1 1 1 1';
};

test('every endpoint of the contract has a row, and every row an endpoint', () => {
  const operations = [...endpoints, ...internalEndpoints].map(({ operation }) => operation);
  expect(Object.keys(table).toSorted()).toEqual(operations.toSorted());
});

/** Logout comes last, because it ends the session of all callers. */
const inTurn = [...endpoints, ...internalEndpoints].toSorted(
  (one, other) => Number(one.operation === 'logout') - Number(other.operation === 'logout'),
);

describe('access at the gateway', () => {
  for (const endpoint of inTurn) {
    const rule = table[endpoint.operation];
    if (!rule) continue;
    test(`${endpoint.method} ${endpoint.path}: ${rule}`, async () => {
      const letters = async (kinds: readonly string[]) => {
        const seen: string[] = [];
        for (const kind of kinds) seen.push(letterOf(await ask(endpoint, kind), rule === 'internal'));
        return Object.fromEntries(kinds.map((kind, at) => [kind, seen[at]]));
      };
      const expected = (kinds: readonly string[], row: string) =>
        Object.fromEntries(kinds.map((kind, at) => [kind, row.split(' ')[at]]));
      expect(await letters(strangers)).toEqual(expected(strangers, strangersGet(rule)));
      expect(await letters(callers)).toEqual(expected(callers, rules[rule]));
    });
  }
});

describe('access of services to Internal endpoints', () => {
  test('every Internal endpoint has a row, and every row an endpoint', () => {
    const operations = internalEndpoints.map(({ operation }) => operation);
    expect(Object.keys(services).toSorted()).toEqual(operations.toSorted());
  });

  test.each(internalEndpoints)('$method $path', async (endpoint) => {
    const named = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'nothing']);
    const asked = { params: Object.fromEntries(named), ...(endpoint.body && { body: {} }) } as object;
    const letter = async (caller: CallerName) => {
      const client = platform.inside(endpoint.service as Parameters<TestPlatform['inside']>[0], caller);
      return [caller, letterOf((await client.call(endpoint, asked)).status, false)] as const;
    };
    const seen = Object.fromEntries(await Promise.all(callerNames.map(letter)));
    const welcome = services[endpoint.operation]?.split(' ') ?? [];
    expect(seen).toEqual(Object.fromEntries(callerNames.map((name) => [name, welcome.includes(name) ? '+' : '3'])));
  });
});
