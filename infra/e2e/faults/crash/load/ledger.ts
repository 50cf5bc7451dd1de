/**
 * How the platform answered a request of the load. The ledger is kept outside the platform and compared with its data afterwards.
 * - acknowledged: a 2xx; the effect must exist and stay.
 * - refused: a 4xx; there must be no effect.
 * - unknown: no response, or a 5xx; the effect may exist, at most once.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

export interface SignUp {
  readonly email: string;
  readonly name: string;
  outcome: Outcome;
  userId?: string;
  accountId?: string;
  /** How many sessions were opened. */
  sessions: number;
}

export interface Change {
  readonly kind: 'created' | 'updated' | 'deleted';
  /** The content that the change sets, different for every change of a resource. */
  readonly content: string;
  outcome: Outcome;
}

/** The field that holds the content of each kind of resource. */
export const contentFields = {
  group: 'description',
  location: 'address',
  zone: 'external_id',
  screen: 'external_id',
  campaign: 'description',
} as const;
export type ResourceKind = keyof typeof contentFields;

/** A resource of the estate, or a campaign. Its changes were requested one after the other. */
export interface Resource {
  readonly kind: ResourceKind;
  readonly accountId: string;
  /** Unique in its account and never changed, so that a resource whose creation was not acknowledged can be found by it. */
  readonly name: string;
  /** Present once the creation was acknowledged. */
  id?: string;
  readonly changes: Change[];
}

/** A checkout page, requested under one idempotency key until there was an answer. */
export interface Checkout {
  readonly accountId: string;
  outcome: Outcome;
}

/** The payment of a token pack on the provider's page. */
export interface Purchase {
  readonly accountId: string;
  outcome: Outcome;
}

/** A change that was acknowledged. */
export interface AcknowledgedChange {
  readonly resource: Resource;
  readonly change: Change;
}

export interface Ledger {
  readonly signUps: SignUp[];
  readonly resources: Resource[];
  readonly checkouts: Checkout[];
  readonly purchases: Purchase[];
  /** The acknowledged changes of each sequential writer, in the order in which they were requested. */
  readonly lanes: AcknowledgedChange[][];
  /** Responses that violate the contract, and requests that never got a response. */
  readonly violations: string[];
  readonly counts: Record<Outcome, number>;
  /** How often each kind of failure occurred, such as `503 unavailable` or `cut: ECONNRESET`. */
  readonly failures: Map<string, number>;
}

export function openLedger(): Ledger {
  return {
    signUps: [],
    resources: [],
    checkouts: [],
    purchases: [],
    lanes: [],
    violations: [],
    counts: { acknowledged: 0, refused: 0, unknown: 0 },
    failures: new Map(),
  };
}

/** The contents that the resource may have now, if it exists: the last one acknowledged, or any requested since. */
export function possibleContents({ changes }: Resource): readonly string[] {
  const set = changes.filter(({ kind, outcome }) => kind !== 'deleted' && outcome !== 'refused');
  const last = set.findLastIndex(({ outcome }) => outcome === 'acknowledged');
  return set.slice(Math.max(last, 0)).map(({ content }) => content);
}

/** How many rows of the resource may exist. */
export function possibleCounts({ changes }: Resource): readonly number[] {
  const outcomeOf = (kind: Change['kind']) => changes.find((change) => change.kind === kind)?.outcome ?? 'refused';
  const [created, deleted] = [outcomeOf('created'), changes.findLast(({ kind }) => kind === 'deleted')?.outcome];
  if (created === 'refused') return [0];
  if (created === 'unknown') return [0, 1];
  if (deleted === 'acknowledged') return [0];
  return deleted === 'unknown' ? [0, 1] : [1];
}
