/**
 * What the load asked for and what it was told: kept outside of the platform, to be held against it afterwards.
 * - acknowledged: a 2xx came; it must be there for good.
 * - refused: a 4xx came; it must not be there.
 * - unknown: no answer came, or a 5xx; it may be there, once.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

export interface SignUp {
  readonly email: string;
  readonly name: string;
  outcome: Outcome;
  userId?: string;
  accountId?: string;
  /** Sessions that were handed out. */
  sessions: number;
}

export interface Change {
  readonly kind: 'created' | 'updated' | 'deleted';
  /** The content that the change sets; no two changes of a thing set the same. */
  readonly content: string;
  outcome: Outcome;
}

/** Where each kind of thing has its content. */
export const contentFields = {
  group: 'description',
  location: 'address',
  zone: 'external_id',
  screen: 'external_id',
  campaign: 'description',
} as const;
export type ThingKind = keyof typeof contentFields;

/** A thing of the estate, or a campaign. Its changes were asked for one after the other. */
export interface Thing {
  readonly kind: ThingKind;
  readonly accountId: string;
  /** Of this thing alone, and never changed: an unacknowledged one is known by it. */
  readonly name: string;
  /** Once its creation was acknowledged. */
  id?: string;
  readonly changes: Change[];
}

/** A page to pay on, asked for under a key of its own until it was there. */
export interface Checkout {
  readonly accountId: string;
  outcome: Outcome;
}

/** A token pack, paid for on the provider's page. */
export interface Purchase {
  readonly accountId: string;
  outcome: Outcome;
}

/** A change that was acknowledged. */
export interface Step {
  readonly thing: Thing;
  readonly change: Change;
}

export interface Ledger {
  readonly signUps: SignUp[];
  readonly things: Thing[];
  readonly checkouts: Checkout[];
  readonly purchases: Purchase[];
  /** What was acknowledged one after the other, each asked for after the answer before. */
  readonly lanes: Step[][];
  /** Answers that the contract does not allow, and requests that were never answered. */
  readonly improper: string[];
  readonly counts: Record<Outcome, number>;
  /** How often what was not done, as `503 unavailable` or `cut: ECONNRESET`. */
  readonly failures: Map<string, number>;
}

export function openLedger(): Ledger {
  return {
    signUps: [],
    things: [],
    checkouts: [],
    purchases: [],
    lanes: [],
    improper: [],
    counts: { acknowledged: 0, refused: 0, unknown: 0 },
    failures: new Map(),
  };
}

/** What the thing may hold now, if it is there: what was acknowledged last, or what was asked for since. */
export function possibleContents({ changes }: Thing): readonly string[] {
  const set = changes.filter(({ kind, outcome }) => kind !== 'deleted' && outcome !== 'refused');
  const last = set.findLastIndex(({ outcome }) => outcome === 'acknowledged');
  return set.slice(Math.max(last, 0)).map(({ content }) => content);
}

/** How many of the thing there may be. */
export function possibleCounts({ changes }: Thing): readonly number[] {
  const outcomeOf = (kind: Change['kind']) => changes.find((change) => change.kind === kind)?.outcome ?? 'refused';
  const [created, deleted] = [outcomeOf('created'), changes.findLast(({ kind }) => kind === 'deleted')?.outcome];
  if (created === 'refused') return [0];
  if (created === 'unknown') return [0, 1];
  if (deleted === 'acknowledged') return [0];
  return deleted === 'unknown' ? [0, 1] : [1];
}
