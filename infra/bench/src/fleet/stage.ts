import { createSigner, KeySet } from '@attribution/auth';
import { newUuid } from '@attribution/ids';
import { fillOwners, seedAccounts } from '../account/seed.ts';
import type { Tools } from '../case.ts';
import { statementsOn } from '../database.ts';
import type { BenchRequest } from '../endpoints/requests.ts';
import { seedCampaigns, seedEstate } from '../endpoints/seed.ts';
import { startNginxEdge } from '../gateway/nginx.ts';
import { type BenchServer, startServer } from '../server.ts';
import { type FleetDescription, type MeasuredService, measuredServices } from './description.ts';
import type { Owner } from './mix.ts';

/** More than there are connections: creates of a single account would wait for each other, because its events are ordered. */
const countOf = ({ smoke }: Pick<Tools, 'smoke'>) => (smoke ? 4 : 64);
/** Longer than a run. */
const tokenSeconds = 3 * 60 * 60;

/** Creates owners with locations, campaigns and a ledger, with the same rows in the fleet's and the bare databases. */
export async function seedBoth(
  databases: FleetDescription['databases'],
  tools: Pick<Tools, 'smoke'>,
): Promise<Owner[]> {
  const [account, organization, campaign] = measuredServices.map((name) => {
    const { fleet, bare } = databases[name];
    return statementsOn(fleet, bare);
  }) as [ReturnType<typeof statementsOn>, ReturnType<typeof statementsOn>, ReturnType<typeof statementsOn>];
  const accounts = (await seedAccounts(account, countOf(tools))).map(({ id }) => id);
  const [users, homes, campaigns] = await Promise.all([
    fillOwners(account, accounts),
    seedEstate(organization, accounts),
    seedCampaigns(campaign, accounts),
  ]);
  return homes.map((home, place) => ({ ...home, user: users[place] ?? '', campaign: campaigns[place] ?? '' }));
}

/** Authenticates an owner to the fleet. */
export function tokensOf(tokenKeys: string): (owner: Owner) => BenchRequest['headers'] {
  const signer = createSigner(KeySet.parse(JSON.parse(tokenKeys)));
  return ({ account, user }) => {
    const claims = { sub: user, account, role: 'owner', account_type: 'network', sid: newUuid() };
    return { authorization: `Bearer ${signer.sign('at+jwt', claims, tokenSeconds)}` };
  };
}

/** Identifies an owner to the bare handlers. */
export const namesOf = ({ account, user }: Owner): BenchRequest['headers'] => ({
  'x-account': account,
  'x-user': user,
});

/** Starts the peer of the fleet: as many processes of plain Express with the same statements, behind nginx. */
export async function startBare(nginx: string, databases: FleetDescription['databases']): Promise<BenchServer> {
  const handlers = await Promise.all(
    measuredServices.map(async (name) => {
      const program = new URL('../endpoints/bare.server.ts', import.meta.url);
      return [name, await startServer(program, { DATABASE_URL: databases[name].bare }, 'anywhere')] as const;
    }),
  );
  const { account, organization, campaign } = Object.fromEntries(handlers) as Record<MeasuredService, BenchServer>;
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
