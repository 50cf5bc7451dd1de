import type { Principal } from '@attribution/auth';
import type { DownloadMedia, Endpoint, Input, Output, ServiceName, UploadMedia } from '@attribution/contracts';
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

/** Returns the success body, a file, or nothing. */
export type Handler<E extends Endpoint> = (
  input: HandlerInput<E>,
) => Promise<
  [DownloadMedia<E>] extends [never] ? (Output<E> extends undefined ? void : Output<E>) : Download<DownloadMedia<E>>
>;

/** A contract and what fulfils it. */
export interface Implementation {
  readonly contract: Endpoint;
  /** Refuses callers whom the contract lets in, before anything of the request's body is read. */
  readonly refuse: ((caller: never) => void) | undefined;
  readonly handle: (input: HandlerInput<Endpoint>) => Promise<unknown>;
}

/**
 * Fulfils a contract: the handler is called with checked input, by a caller whom the contract lets in. `refuse` throws for
 * those of them who need not send a body.
 */
export function implement<const E extends Endpoint>(
  contract: E,
  handle: Handler<E>,
  refuse?: (caller: Caller<E>) => void,
): Implementation {
  return { contract, refuse, handle: handle as unknown as Implementation['handle'] };
}
