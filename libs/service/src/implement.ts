import type { Principal } from '@attribution/auth';
import type { DownloadMedia, Endpoint, Input, Output, ServiceName, UploadMedia } from '@attribution/contracts';
import type { RunTransaction, SqlTransaction } from '@attribution/database';
import type { Download, RequestContext, Upload } from '@attribution/http';

/** Who calls, by what the contract lets in. */
interface Callers {
  none: undefined;
  optional: Principal | undefined;
  any: Principal;
  person: Principal;
  internal: ServiceName;
}
type Caller<E extends Endpoint> = Callers[E['access']['credential']];

/** What a handler receives: parsed input, the verified caller, and the request's context. */
export interface HandlerInput<E extends Endpoint> extends Input<E> {
  readonly caller: Caller<E>;
  readonly bytes: E extends { readonly raw: true } ? Buffer : undefined;
  /** The file that was sent: gone when the handler is done. */
  readonly upload: E extends { readonly upload: object } ? Upload<UploadMedia<E>> : undefined;
  /**
   * Of an `external` endpoint: names this request and its repetitions under one Idempotency-Key, so that what is asked of
   * others in its name is done once. A UUIDv7.
   */
  readonly attempt: E extends { readonly external: true } ? string : undefined;
  readonly request: RequestContext;
}

/** The success body, a file, or nothing. */
type Answer<E extends Endpoint, Nothing> = [DownloadMedia<E>] extends [never]
  ? Output<E> extends undefined
    ? Nothing
    : Output<E>
  : Download<DownloadMedia<E>>;

/** Returns the success body, a file, or nothing. */
type Handler<E extends Endpoint> = (input: HandlerInput<E>) => Promise<Answer<E, void>>;

/** A contract that takes an `Idempotency-Key`, which is kept in the transaction of the effect (ADR 14). */
export type KeyedEndpoint = Endpoint & { readonly idempotent: true | 'secret'; readonly external?: undefined };

/** The result of a handler's transaction. Only a transaction makes one. */
class Committed<T> {
  readonly #result: T;
  constructor(result: T) {
    this.#result = result;
  }
  get result(): T {
    return this.#result;
  }
}

export type { Committed };

/** The transaction of a request, and with it of its `Idempotency-Key` if it has one. For one use. */
export type KeyedTransaction<Tx> = <T>(work: (tx: Tx) => Promise<T>) => Promise<Committed<T>>;

/** Returns what its transaction returned: the answer is kept with the key, in that transaction. */
export type KeyedHandler<E extends Endpoint, Tx> = (
  input: HandlerInput<E> & { readonly transaction: KeyedTransaction<Tx> },
) => Promise<Committed<Answer<E, void>>>;

/** A contract and what fulfils it. */
export interface Implementation {
  readonly contract: Endpoint;
  /** Refuses callers whom the contract lets in, before anything of the request's body is read. */
  readonly refuse: ((caller: never) => void) | undefined;
  /** Of a keyed endpoint: runs the transaction of its effect. */
  readonly runTransaction: RunTransaction<never> | undefined;
  readonly handle: (input: HandlerInput<Endpoint>, runTransaction?: RunTransaction<never>) => Promise<unknown>;
}

/** Throws for callers whom the contract lets in and who need not send a body. */
type Refuse<E extends Endpoint> = (caller: Caller<E>) => void;
/** Of a contract that takes a key which is not an attempt's: never. */
type Unkeyed<E extends Endpoint> = E extends { readonly idempotent: true | 'secret' }
  ? E extends { readonly external: true }
    ? E
    : never
  : E;

/** Fulfils a contract: the handler is called with checked input, by a caller whom the contract lets in. */
export function implement<const E extends Endpoint>(
  contract: Unkeyed<E>,
  handle: Handler<E>,
  refuse?: Refuse<E>,
): Implementation {
  if (contract.idempotent && !contract.external)
    throw new Error(`${contract.operation} takes an Idempotency-Key, and is for implementKeyed`);
  return { contract, refuse, runTransaction: undefined, handle: handle as unknown as Implementation['handle'] };
}

/**
 * Fulfils a contract that takes an `Idempotency-Key`. The handler writes in the `transaction` that it is given, which is
 * `runTransaction` and, where the request has a key, takes the key first and keeps the answer last.
 */
export function implementKeyed<const E extends KeyedEndpoint, Tx extends SqlTransaction>(
  contract: E,
  runTransaction: RunTransaction<Tx>,
  handle: KeyedHandler<E, Tx>,
  refuse?: Refuse<E>,
): Implementation {
  const { operation } = contract;
  return {
    contract,
    refuse,
    runTransaction: runTransaction as RunTransaction<never>,
    async handle(input, run) {
      let done = false;
      const transaction: KeyedTransaction<Tx> = async (work) => {
        if (done) throw new Error(`${operation} begins a second transaction`);
        const result = await (run as unknown as RunTransaction<Tx>)(work);
        done = true;
        return new Committed(result);
      };
      const committed = await handle({ ...(input as unknown as HandlerInput<E>), transaction });
      if (committed instanceof Committed) return committed.result;
      throw new Error(`${operation} answers something else than its transaction`);
    },
  };
}
