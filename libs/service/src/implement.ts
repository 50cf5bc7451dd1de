import type { Principal } from '@attribution/auth';
import type { DownloadMedia, Endpoint, Input, Output, ServiceName, UploadMedia } from '@attribution/contracts';
import type { RunTransaction, SqlTransaction } from '@attribution/database';
import type { Download, RequestContext, Upload } from '@attribution/http';

/** The type of the caller, by the credential that the contract asks for. */
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
  /** The uploaded file. It is deleted when the handler has finished. */
  readonly upload: E extends { readonly upload: object } ? Upload<UploadMedia<E>> : undefined;
  /**
   * For an `external` endpoint: a UUIDv7 that is the same for all repetitions under one Idempotency-Key. Passed on to the
   * other system, it ensures that the effect happens once.
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

/** A contract that accepts an `Idempotency-Key`, which is stored in the transaction of the effect (ADR 14). */
export type KeyedEndpoint = Endpoint & { readonly idempotent: true | 'secret'; readonly external?: undefined };

/** The result of a handler's transaction. The class is not exported, so only a transaction can make one. */
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

/** The transaction of a request, which also stores its `Idempotency-Key` if it has one. It can be used once. */
export type KeyedTransaction<Tx> = <T>(work: (tx: Tx) => Promise<T>) => Promise<Committed<T>>;

/** Returns the result of its transaction, because the response is stored with the key in that transaction. */
export type KeyedHandler<E extends Endpoint, Tx> = (
  input: HandlerInput<E> & { readonly transaction: KeyedTransaction<Tx> },
) => Promise<Committed<Answer<E, void>>>;

/** A contract and its implementation. */
export interface Implementation {
  readonly contract: Endpoint;
  /** Refuses a caller whom the contract allows, before the request's body is read. */
  readonly refuse: ((caller: never) => void) | undefined;
  /** For an endpoint with an `Idempotency-Key`: runs the transaction of its effect. */
  readonly runTransaction: RunTransaction<never> | undefined;
  readonly handle: (input: HandlerInput<Endpoint>, runTransaction?: RunTransaction<never>) => Promise<unknown>;
}

/** Throws for a caller whom the contract allows but the endpoint refuses, so that the body need not be read. */
type Refuse<E extends Endpoint> = (caller: Caller<E>) => void;
/** `never` for a contract whose `Idempotency-Key` belongs to a transaction: that needs `implementKeyed`. */
type Unkeyed<E extends Endpoint> = E extends { readonly idempotent: true | 'secret' }
  ? E extends { readonly external: true }
    ? E
    : never
  : E;

/** Implements a contract. The handler receives validated input from a caller whom the contract allows. */
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
 * Implements a contract that accepts an `Idempotency-Key`. The handler writes in the `transaction` that it is given. That
 * is `runTransaction`, which, if the request has a key, claims it first and stores the response last.
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
