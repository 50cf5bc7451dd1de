import { type PaymentProvider, ProviderError, type ProviderEvent } from '../src/provider/index.ts';

/** The state of a few objects at the provider at one moment, by kind and id. */
export type Recorded = ReadonlyMap<string, object>;

const readers = {
  checkout: 'getCheckout',
  payment: 'getPayment',
  invoice: 'getInvoice',
  subscription: 'getSubscription',
  customer: 'getCustomer',
} as const satisfies Record<string, keyof PaymentProvider>;
type Kind = keyof typeof readers;
const kindOf = ({ object }: ProviderEvent) => object.kind as Kind;

/** Records the current state of every object that the notifications refer to. */
export async function record(
  provider: PaymentProvider,
  events: readonly ProviderEvent[],
  customerId: string,
): Promise<Recorded> {
  const named = [
    ...events.map((event) => [kindOf(event), event.object.id] as const),
    ['customer', customerId] as const,
  ];
  const recorded = await Promise.all(
    named.map(async ([kind, id]) => [`${kind} ${id}`, (await provider[readers[kind]](id)) as object] as const),
  );
  return new Map(recorded);
}

/**
 * A provider that plays recorded states back to several accounts at once. Each account has ids with a mark of its own.
 * `at` gives the objects that an account sees now.
 */
export function replay(at: (mark: string) => Recorded, ours: (mark: string) => Record<string, string>) {
  const read = (kind: Kind) => async (marked: string) => {
    const [id = '', mark = ''] = marked.split('~');
    const found = at(mark).get(`${kind} ${id}`);
    if (!found) throw new ProviderError('not_found', `No such ${kind}: ${id}`);
    return markedAs(found, mark, ours(mark));
  };
  const members = Object.entries(readers).map(([kind, name]) => [name, read(kind as Kind)] as const);
  return Object.fromEntries(members) as unknown as PaymentProvider;
}

/** Marks every id of the provider, and replaces our own ids. */
function markedAs(found: object, mark: string, ours: Record<string, string>): object {
  const fields = Object.entries(found).map(([name, value]) => {
    if (Object.hasOwn(ours, name)) return [name, ours[name]];
    const isId = typeof value === 'string' && (name === 'id' || name.endsWith('_id'));
    return [name, isId ? `${value}~${mark}` : value];
  });
  return Object.fromEntries(fields) as object;
}

/** Every order of some things. */
export function* permutations<T>(of: readonly T[]): Generator<readonly T[]> {
  if (of.length <= 1) yield of;
  for (const [index, first] of of.entries()) {
    for (const rest of permutations(of.toSpliced(index, 1))) yield [first, ...rest];
  }
}
