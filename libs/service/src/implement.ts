import type { Principal } from '@attribution/auth';
import type { Endpoint, Input, Output, ServiceName } from '@attribution/contracts';
import type { RequestContext } from './request.ts';

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
  /**
   * Of an `external` endpoint: names this request and its repetitions under one Idempotency-Key, so that what is asked of
   * others in its name is done once. A UUIDv7.
   */
  readonly attempt: E extends { readonly external: true } ? string : undefined;
  readonly request: RequestContext;
}

export type Handler<E extends Endpoint> = (
  input: HandlerInput<E>,
) => Promise<Output<E> extends undefined ? void : Output<E>>;

/** A contract and what fulfils it. */
export interface Implementation {
  readonly contract: Endpoint;
  readonly handle: (input: HandlerInput<Endpoint>) => Promise<unknown>;
}

/** Fulfils a contract: the handler is called with checked input, by a caller whom the contract lets in. */
export function implement<const E extends Endpoint>(contract: E, handle: Handler<E>): Implementation {
  return { contract, handle: handle as unknown as Implementation['handle'] };
}
