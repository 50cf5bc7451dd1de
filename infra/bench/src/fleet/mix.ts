import type { BenchRequest } from '../endpoints/requests.ts';

/** A user of the product app, and some of the account's resources. */
export interface Owner {
  readonly account: string;
  readonly user: string;
  readonly group: string;
  readonly location: string;
  readonly campaign: string;
}

interface Step {
  /** How many of twenty requests are of this kind. */
  readonly weight: number;
  request(owner: Owner): Omit<BenchRequest, 'headers'>;
}

const get = (path: (owner: Owner) => string) => (owner: Owner) => ({ method: 'GET' as const, path: path(owner) });

/** A product app's requests: one in ten writes. */
const steps: readonly Step[] = [
  { weight: 4, request: get(() => '/v2/users/me/permissions') },
  { weight: 4, request: get(() => '/v2/locations?limit=20') },
  { weight: 2, request: get(({ location }) => `/v2/locations/${location}`) },
  { weight: 3, request: get(() => '/v2/campaigns?limit=20') },
  { weight: 3, request: get(({ campaign }) => `/v2/campaigns/${campaign}`) },
  { weight: 1, request: get(({ account }) => `/v2/accounts/${account}/balance`) },
  { weight: 1, request: get(({ account }) => `/v2/accounts/${account}/ledger?limit=20`) },
  {
    weight: 1,
    request: () => ({
      method: 'POST',
      path: '/v2/campaigns',
      body: { name: 'Spring sale', brief: { version: 1, product: 'Trail shoe X2', objective: null, outcome: null } },
    }),
  },
  {
    weight: 1,
    request: ({ campaign }) => ({
      method: 'PATCH',
      path: `/v2/campaigns/${campaign}`,
      body: { priority: 20, brief: { outcome: 'A tenth more visits' } },
    }),
  },
];

/** One request of each kind. */
export const kindsOf = (owner: Owner) => steps.map(({ request }) => request(owner));

/** The kinds by their weights, with requests of one kind spread evenly. */
const sequence = steps
  .flatMap(({ weight, request }) => Array.from({ length: weight }, (_, n) => ({ at: (n + 0.5) / weight, request })))
  .toSorted((one, other) => one.at - other.at)
  .map(({ request }) => request);

/** The requests of all owners, in rounds of one request per owner. Within a round the kinds are mixed. */
export function mixOf(
  owners: readonly Owner[],
  headersOf: (owner: Owner) => Readonly<Record<string, string>>,
): BenchRequest[] {
  return sequence.flatMap((_, round) =>
    owners.flatMap((owner, place) => {
      const request = sequence[(round + 7 * place) % sequence.length];
      return request ? { ...request(owner), headers: headersOf(owner) } : [];
    }),
  );
}
