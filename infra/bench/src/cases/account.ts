import { createSigner, generateInternalKeys, generateKeySets, internalOf } from '@attribution/auth';
import { newId, newUuid } from '@attribution/ids';
import { fillKeys, fillMembers, secret, seedAccounts } from '../account/seed.ts';
import { type Case, compare, type Row, rateRow, type Tools } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { compareServers, withDatabase } from '../endpoints/compare-servers.ts';
import { serviceSettings } from '../endpoints/settings.ts';
import { type BenchServer, startServer } from '../server.ts';
import { load } from '../wrk.ts';

const bars = { exchange: 0.6, holds: 0.5, scale: 1 / 1.3 };
const keys = generateKeySets('bench');
const internalKeys = generateInternalKeys();

const start = (program: '../endpoints/service.server.ts' | '../account/bare.server.ts', database: BenchDatabase) =>
  startServer(new URL(program, import.meta.url), {
    ...serviceSettings(keys),
    SERVICE: 'account',
    DATABASE_URL: database.url,
    RELAY: 'off',
    INTERNAL_PRIVATE_KEYS: JSON.stringify(internalKeys.private.account),
    INTERNAL_PUBLIC_KEYS: JSON.stringify(internalKeys.public),
  });

/** A Lua script for wrk that exchanges the keys in turn. */
const exchanges = (accessKeyIds: readonly string[]) => `
local ids, n = { ${accessKeyIds.map((id) => `'${id}'`).join(', ')} }, 0
function request()
  n = n % #ids + 1
  return wrk.format('POST', '/v2/auth/api-token', { ['x-access-key-id'] = ids[n], ['x-access-key-secret'] = '${secret}' })
end`;

const exchange = (tools: Tools, accessKeyIds: readonly string[]) => async (url: string) =>
  (await load({ url, seconds: tools.seconds, script: exchanges(accessKeyIds) })).rate;

/** A Lua script for wrk that holds one token of the accounts in turn, each with its own idempotency key. */
const holds = (accounts: readonly string[], token: string) => `
local accounts, n = { ${accounts.map((id) => `'${id}'`).join(', ')} }, 0
local started = tostring(os.time()) .. tostring(math.random(1e9))
function request()
  n = n + 1
  local body = '{"account_id":"' .. accounts[n % #accounts + 1] .. '","idempotency_key":"' .. started .. n ..
    '","amount":1,"description":"Bench","expires_in":"1h"}'
  return wrk.format('POST', '/internal/v2/token-holds',
    { authorization = 'Bearer ${token}', ['content-type'] = 'application/json' }, body)
end`;

export const accountExchange: Case = {
  name: 'account: key exchange',
  run: (tools) =>
    withDatabase(tools, 'account', async (database) => {
      const accounts = await seedAccounts(database, 64);
      const ids = accounts.map(({ accessKeyId }) => accessKeyId);
      const servers = [start('../endpoints/service.server.ts', database), start('../account/bare.server.ts', database)];
      const [ours, bare] = (await Promise.all(servers)) as [BenchServer, BenchServer];
      const compared = await compareServers(tools, ours, bare, exchange(tools, ids));
      return [rateRow('Key exchange beside the read, the sha256 and the signature', compared, bars.exchange)];
    }),
};

const hot = [1, 'on one hot account'] as const;

export const accountHolds: Case = {
  name: 'account: token holds',
  async run(tools) {
    const rows: Row[] = [];
    for (const [count, what] of tools.smoke ? [hot] : [hot, [1_000, 'on 1,000 accounts'] as const])
      rows.push(
        await withDatabase(tools, 'account', async (database) => {
          const accounts = (await seedAccounts(database, count)).map(({ id }) => id);
          const [ours, bare] = await Promise.all([
            start('../endpoints/service.server.ts', database),
            start('../account/bare.server.ts', database),
          ]);
          const { sign } = internalOf('billing', internalKeys.private.billing, internalKeys.public);
          const compared = await compareServers(tools, ours, bare, async (url) => {
            await database.sql('TRUNCATE outbox');
            return (await load({ url, seconds: tools.seconds, script: holds(accounts, sign('account')) })).rate;
          });
          return rateRow(`Token hold beside a lock of one row, ${what}`, compared, bars.holds);
        }),
      );
    return rows;
  },
};

/** Compares a large database with a small one: a read by index must cost the same. Each account has 100 keys in both. */
export const accountScale: Case = {
  name: 'account: many keys and users',
  run: (tools) =>
    withDatabase(tools, 'account', (large) =>
      withDatabase(tools, 'account', async (small) => {
        tools.say('  filling: 1,000,000 keys of 10,000 accounts, and 10,000 users of one, beside 100 of each in one');
        const accounts = tools.smoke ? 10 : 10_000;
        const [many, few] = [await seedAccounts(large, accounts), await seedAccounts(small, 1)];
        const [home, other] = [many[0]?.id ?? '', few[0]?.id ?? ''];
        const keysOfMany = await fillKeys(large, 99 * accounts);
        await fillMembers(large, home, accounts);
        const hundred = await fillKeys(small, 100);
        await fillMembers(small, other, 100);
        const servers = [
          start('../endpoints/service.server.ts', large),
          start('../endpoints/service.server.ts', small),
        ];
        const [onLarge, onSmall] = (await Promise.all(servers)) as [BenchServer, BenchServer];
        const compareSizes = (load: (url: string, account: string) => Promise<number>) =>
          compare(
            tools,
            () => load(onLarge.url, home),
            () => load(onSmall.url, other),
          );
        const some = keysOfMany.filter((_, at) => at % (keysOfMany.length / 100) < 1);
        const read = (path: string) => (url: string, account: string) => page(tools, url + path, account);
        try {
          const exchanged = await compareSizes((url, account) =>
            exchange(tools, account === home ? some : hundred)(url),
          );
          const listed = await compareSizes(read('/v2/api-keys'));
          const users = await compareSizes(read('/v2/users?limit=50'));
          return [
            rateRow('Key exchange among 1,000,000 keys beside 100', exchanged, bars.scale),
            rateRow('The 100 keys of an account, of 1,000,000 beside 100', listed, bars.scale),
            rateRow('A page of 50 users of 10,000 beside of 100', users, bars.scale),
          ];
        } finally {
          await Promise.all([onLarge.stop(), onSmall.stop()]);
        }
      }),
    ),
};

/** Requests per second of a page, as the account's owner. */
async function page({ seconds }: Tools, url: string, account: string): Promise<number> {
  const claims = { sub: newId('user'), account, role: 'owner', account_type: 'network', sid: newUuid() };
  const authorization = `Bearer ${createSigner(keys.private).sign('at+jwt', claims, 600)}`;
  return (await load({ url, seconds, headers: { authorization } })).rate;
}
