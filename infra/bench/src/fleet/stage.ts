import { createSigner, KeySet } from '@attribution/auth';
import { newUuid } from '@attribution/ids';
import { fillOwners, seedAccounts } from '../account/seed.ts';
import { statementsOn } from '../database.ts';
import type { BenchRequest } from '../endpoints/requests.ts';
import { seedCampaigns, seedEstate } from '../endpoints/seed.ts';
import { startNginxEdge } from '../gateway/nginx.ts';
import { type BenchServer, startServer } from '../server.ts';
import { type Asked, asked, type FleetDescription } from './description.ts';
import type { Owner } from './mix.ts';

/** More than ask at once: a single account's creates would wait for each other, in the order of its events. */
const count = 64;
/** Seconds that tokens hold: longer than a run. */
const hours = 3 * 60 * 60;

/** Owners with locations, campaigns and a ledger: the same rows in the fleet's databases and in those of the bare handlers. */
export async function seedBoth(databases: FleetDescription['databases']): Promise<Owner[]> {
  const [account, organization, campaign] = asked.map((name) => {
    const { fleet, bare } = databases[name];
    return statementsOn(fleet, bare);
  }) as [ReturnType<typeof statementsOn>, ReturnType<typeof statementsOn>, ReturnType<typeof statementsOn>];
  const accounts = (await seedAccounts(account, count)).map(({ id }) => id);
  const [users, homes, campaigns] = await Promise.all([
    fillOwners(account, accounts),
    seedEstate(organization, accounts),
    seedCampaigns(campaign, accounts),
  ]);
  return homes.map((home, place) => ({ ...home, user: users[place] ?? '', campaign: campaigns[place] ?? '' }));
}

/** With which the fleet knows them. */
export function tokensOf(tokenKeys: string): (owner: Owner) => BenchRequest['headers'] {
  const signer = createSigner(KeySet.parse(JSON.parse(tokenKeys)));
  return ({ account, user }) => {
    const claims = { sub: user, account, role: 'owner', account_type: 'network', sid: newUuid() };
    return { authorization: `Bearer ${signer.sign('at+jwt', claims, hours)}` };
  };
}

/** With which the bare handlers do. */
export const namesOf = ({ account, user }: Owner): BenchRequest['headers'] => ({
  'x-account': account,
  'x-user': user,
});

/** What the fleet is measured beside: as many processes of Express and the same statements, behind nginx. */
export async function startBare(nginx: string, databases: FleetDescription['databases']): Promise<BenchServer> {
  const handlers = await Promise.all(
    asked.map(async (name) => {
      const program = new URL('../endpoints/bare.server.ts', import.meta.url);
      return [name, await startServer(program, { DATABASE_URL: databases[name].bare }, 'anywhere')] as const;
    }),
  );
  const { account, organization, campaign } = Object.fromEntries(handlers) as Record<Asked, BenchServer>;
  const edge = await startNginxEdge(nginx, {
    '/v2/users': account.url,
    '/v2/accounts': account.url,
    '/v2/locations': organization.url,
    '/v2/campaigns': campaign.url,
  });
  return {
    ...edge,
    async stop() {
      await edge.stop();
      await Promise.all(handlers.map(([, server]) => server.stop()));
    },
  };
}
