import type { IncomingMessage } from 'node:http';
import type { DeviceIdentity, Principal } from '@attribution/auth';
import {
  auditKeeper,
  type CallerName,
  type DownloadMedia,
  type Endpoint,
  type Input,
  isRecorded,
  type OtherOutput,
  type Output,
  type UploadMedia,
} from '@attribution/contracts';
import type { RunTransaction, SqlTransaction } from '@attribution/database';
import type { Download, RequestContext, SentFile, Spool, Upload } from '@attribution/http';
import type { AuditNote, NoteChanges } from './audit.ts';

/** The type of the caller, by the credential that the contract asks for. */
interface Callers {
  none: undefined;
  optional: Principal | undefined;
  any: Principal;
  person: Principal;
  internal: CallerName;
  device: DeviceIdentity;
  factory: undefined;
}
type Caller<E extends Endpoint> = Callers[E['access']['credential']];

/** What a handler receives: parsed input, the verified caller, and the request's context. */
export interface HandlerInput<E extends Endpoint> extends Input<E> {
  readonly caller: Caller<E>;
  /** The body as it was sent. */
  readonly bytes: E extends { readonly raw: true } | { readonly access: { readonly credential: 'factory' } }
    ? Buffer
    : undefined;
  /** The request itself, whose body is the bytes of a file. What is not read of it is discarded. */
  readonly incoming: E extends { readonly stream: 'received' } ? IncomingMessage : undefined;
  /** The uploaded file. It is deleted when the handler has finished. */
  readonly upload: E extends { readonly upload: object } ? Upload<UploadMedia<E>> : undefined;
  /**
   * For an `external` endpoint: a UUIDv7 that is the same for all repetitions under one Idempotency-Key. Passed on to the
   * other system, it ensures that the effect happens once.
   */
  readonly attempt: E extends { readonly external: true } ? string : undefined;
  readonly request: RequestContext;
  /** A file that counts towards the caller's share of what the process holds, until it is closed. */
  openSpool(): Promise<Spool>;
}

/** The success body, a file, or nothing. */
type Answer<E extends Endpoint, Nothing> = [DownloadMedia<E>] extends [never]
  ? Output<E> extends undefined
    ? E extends { readonly stream: 'sent' }
      ? SentFile
      : Nothing
    : Output<E>
  : Download<DownloadMedia<E>>;

/** A response that a handler chooses: its status, if it is not the usual one, and headers. */
export class Chosen<E extends Endpoint> {
  readonly status: 'success' | 'also';
  readonly body: Output<E> | OtherOutput<E> | undefined;
  readonly headers: Readonly<Record<string, string>>;
  private constructor(status: 'success' | 'also', body: Chosen<E>['body'], headers: Readonly<Record<string, string>>) {
    this.status = status;
    this.body = body;
    this.headers = headers;
  }

  /** The usual success, with headers. */
  static usual<E extends Endpoint>(body: Output<E>, headers: Readonly<Record<string, string>>): Chosen<E> {
    return new Chosen<E>('success', body, headers);
  }

  /** The other success that the contract declares. */
  static otherwise<E extends Endpoint>(
    body: OtherOutput<E> | undefined,
    headers: Readonly<Record<string, string>> = {},
  ): Chosen<E> {
    return new Chosen<E>('also', body, headers);
  }
}

/** Returns the success body, a file, or nothing. */
type Handler<E extends Endpoint> = (input: HandlerInput<E>) => Promise<Answer<E, void> | Chosen<E>>;

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

/**
 * The transaction of a request that writes. It also holds the request's audit record, and its `Idempotency-Key` if it has
 * one. It can be used once. The work may `note` what the record says.
 */
export type WriteTransaction<Tx> = <T>(work: (tx: Tx, note: NoteChanges) => Promise<T>) => Promise<Committed<T>>;

/** Returns the result of its transaction, because the record and the stored response are of that transaction. */
export type WriteHandler<E extends Endpoint, Tx> = (
  input: HandlerInput<E> & { readonly transaction: WriteTransaction<Tx> },
) => Promise<Committed<Answer<E, void>>>;

/** What the app adds to the transaction of a request. */
export interface Around {
  /** Runs the transaction. If the request has a key, it claims the key first, and stores the response last. */
  readonly runTransaction: RunTransaction<never>;
  /** Records the request in the transaction, once its result is known. Absent where nothing is recorded. */
  readonly record?: ((tx: SqlTransaction, result: unknown, note: AuditNote) => Promise<void>) | undefined;
}

/** A contract and its implementation. */
export interface Implementation {
  readonly contract: Endpoint;
  /** Refuses a caller whom the contract allows, before the request's body is read. */
  readonly refuse: ((caller: never) => void) | undefined;
  /** Looks at the caller before the rest of the request is validated. Its result is the handler's `prepared`. */
  readonly prepare?: ((caller: never) => Promise<unknown>) | undefined;
  /** Refuses an upload when its turn has come, before the file is received. Not called for a repetition. */
  readonly beforeUpload?: ((caller: never) => Promise<void>) | undefined;
  /** What parts of an answer are made anew each time it is given, because they do not last as long as the stored one. */
  readonly renew?: (answer: unknown) => Promise<unknown>;
  /** For an endpoint whose effect is one transaction: runs it. */
  readonly runTransaction: RunTransaction<never> | undefined;
  readonly handle: (input: HandlerInput<Endpoint>, around?: Around) => Promise<unknown>;
}

/** Throws for a caller whom the contract allows but the endpoint refuses, so that the body need not be read. */
type Refuse<E extends Endpoint> = (caller: Caller<E>) => void;
/** Contracts whose effect is not one transaction of the service that has to hold more than the effect. */
type Plain<E extends Endpoint> = E extends { readonly external: true }
  ? E
  : E extends { readonly idempotent: true | 'secret' }
    ? never
    : E extends { readonly method: 'GET' } | { readonly service: typeof auditKeeper }
      ? E
      : E extends { readonly changes_nothing: true }
        ? E
        : E extends { readonly access: { readonly credential: 'any' | 'person' } }
          ? never
          : E;

const writesInTransaction = (contract: Endpoint): boolean =>
  !contract.external &&
  (contract.idempotent !== undefined ||
    (isRecorded(contract) && contract.method !== 'GET' && contract.service !== auditKeeper));

/**
 * Implements a contract. The handler receives validated input from a caller whom the contract allows. What a person or a key
 * changes is for `implementWrite`, so that the transaction of the change holds its audit record; the service that keeps the
 * audit log writes its records itself.
 */
export function implement<const E extends Endpoint>(
  contract: Plain<E>,
  handle: Handler<E>,
  refuse?: Refuse<E>,
): Implementation {
  if (writesInTransaction(contract)) throw new Error(`${contract.operation} writes, and is for implementWrite`);
  return { contract, refuse, runTransaction: undefined, handle: handle as unknown as Implementation['handle'] };
}

/** A contract whose effect is one transaction. */
export type WriteEndpoint = Endpoint & { readonly external?: undefined };

/**
 * Implements a contract whose caller has to be looked up before the rest of the request is validated. `prepare` throws to
 * refuse the caller; its result is given to the handler.
 */
export function implementPrepared<const E extends Endpoint, P>(
  contract: Plain<E>,
  prepare: (caller: Caller<E>) => Promise<P>,
  handle: (input: HandlerInput<E> & { readonly prepared: P }) => Promise<Answer<E, void> | Chosen<E>>,
): Implementation {
  return { ...implement(contract, handle as never), prepare: prepare as (caller: never) => Promise<unknown> };
}

/**
 * Implements a contract that writes. The handler writes in the `transaction` that it is given. That is `runTransaction`,
 * with what the app adds to it: the audit record, and for an `Idempotency-Key` its claim and the stored response (ADR 14, 33).
 */
export function implementWrite<const E extends WriteEndpoint, Tx extends SqlTransaction>(
  contract: E,
  runTransaction: RunTransaction<Tx>,
  handle: WriteHandler<E, Tx>,
  refuse?: Refuse<E>,
  beforeUpload?: (caller: Caller<E>) => Promise<void>,
): Implementation {
  const { operation } = contract;
  return {
    contract,
    refuse,
    beforeUpload,
    runTransaction: runTransaction as RunTransaction<never>,
    async handle(input, around) {
      const run = (around?.runTransaction ?? runTransaction) as unknown as RunTransaction<Tx>;
      let done = false;
      const transaction: WriteTransaction<Tx> = async (work) => {
        if (done) throw new Error(`${operation} begins a second transaction`);
        const result = await run(async (tx) => {
          let noted: AuditNote = {};
          const value = await work(tx, (note) => {
            noted = note;
          });
          await around?.record?.(tx, value, noted);
          return value;
        });
        done = true;
        return new Committed(result);
      };
      const committed = await handle({ ...(input as unknown as HandlerInput<E>), transaction });
      if (committed instanceof Committed) return committed.result;
      throw new Error(`${operation} answers something else than its transaction`);
    },
  };
}
