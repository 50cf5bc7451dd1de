import type { z } from 'zod';
import { type ProblemKind, problemKinds } from './wire/problems.ts';

export const serviceNames = [
  'account',
  'organization',
  'device',
  'campaign',
  'events',
  'billing',
  'utilities',
] as const;
export type ServiceName = (typeof serviceNames)[number];

export type Role = 'owner' | 'admin' | 'member' | 'viewer';

/**
 * Who may call.
 * - `none`: no token is needed. `any`: the token of a person or a key. `person`: only a person's token.
 * - `optional`: no token, or a person's.
 * - `internal`: the services in `callers`, by an internal token. The gateway does not know the path. A service that is among
 *   its own callers calls the endpoint from its operators' commands.
 * - `roles`: the roles that are allowed; all, if it is omitted.
 * - `billing`: the caller needs billing access (spec §4.4).
 * - `about_self`: the endpoint concerns the caller alone, so per-service access does not apply.
 */
export type Access =
  | { readonly credential: 'none' | 'optional' }
  | { readonly credential: 'internal'; readonly callers: readonly ServiceName[] }
  | {
      readonly credential: 'any' | 'person';
      readonly roles?: readonly Role[];
      readonly billing?: true;
      readonly about_self?: true;
    };

/** A fixed window per client IP (spec §8). `unauthorized`: only responses with 401 count. */
export interface RateLimit {
  readonly window_seconds: number;
  readonly limit: number;
  readonly counts: 'requests' | 'unauthorized';
}

/** A request body that is a UTF-8 text file. */
export interface UploadRules {
  /** The accepted media types, in lower case, without parameters: `text/csv`. */
  readonly media: readonly [string, ...string[]];
  readonly max_bytes: number;
  /** The beginning of an example file, by media type. */
  readonly example?: Readonly<Record<string, string>>;
}

/** A success body that is a UTF-8 text file. */
export interface DownloadRules {
  /** The possible media types. */
  readonly media: readonly [string, ...string[]];
}

/** The contract of one endpoint. */
export interface Endpoint {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/v2/…`, for Internal endpoints `/internal/v2/…`, for notifications of other systems `/webhooks/…`; parameters in braces. */
  readonly path: `/v2/${string}` | `/internal/v2/${string}` | `/webhooks/${string}`;
  readonly service: ServiceName;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly rate_limit?: RateLimit;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Additional request headers, in lower case. The handler checks missing or malformed ones. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** The request's body is a file. It excludes `body`. */
  readonly upload?: UploadRules;
  /** The request's body is bytes that their sender has signed. Such an endpoint is for one sender, and not in the API reference. */
  readonly raw?: true;
  /** Accepts an `Idempotency-Key`. `secret`: the response contains a secret and is not stored. */
  readonly idempotent?: true | 'secret';
  /** Its effect is in another system, outside the transaction. A repeated request is the same attempt there too (ADR 17). */
  readonly external?: true;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    readonly body?: z.ZodType;
    /** The response is a file. It excludes `body`, and is for GET only, because no Idempotency-Key could store a file. */
    readonly download?: DownloadRules;
  };
  /** Additional problems. `problemsOf` adds those that follow from the other fields. */
  readonly problems?: readonly ProblemKind[];
}

/** Declares an endpoint. The gateway, the service, the OpenAPI document, the client and tests use this one value. */
export function endpoint<const E extends Endpoint>(definition: E): E {
  return definition;
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
type Given<S> = S extends z.ZodType ? z.input<S> : undefined;
type Field<E, K extends string> = E extends Record<K, infer S> ? S : undefined;

/** The parsed input of a handler. */
export interface Input<E extends Endpoint> {
  readonly params: Parsed<Field<E, 'params'>>;
  readonly query: Parsed<Field<E, 'query'>>;
  readonly headers: Parsed<Field<E, 'headers'>>;
  readonly body: Parsed<Field<E, 'body'>>;
}

/** The result of a handler: the success body, or nothing. */
export type Output<E extends Endpoint> = Given<Field<E['success'], 'body'>>;

/** The media types of the file that an endpoint accepts, if it does. */
export type UploadMedia<E extends Endpoint> = E extends { readonly upload: infer U extends UploadRules }
  ? U['media'][number]
  : never;

/** The media types of the file that an endpoint returns, if it does. */
export type DownloadMedia<E extends Endpoint> = E['success'] extends {
  readonly download: infer D extends DownloadRules;
}
  ? D['media'][number]
  : never;

/** A file to send. Unless it is a stream, it is sent with its length. */
export interface FileToSend<M extends string> {
  readonly media: M;
  readonly content: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

/** What a caller sends. Query values are converted to strings. */
export interface Call<E extends Endpoint> {
  readonly params?: Given<Field<E, 'params'>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Given<Field<E, 'body'>>;
  readonly upload?: FileToSend<UploadMedia<E>>;
}

/** Every problem that an endpoint can respond with, by ascending status. */
export function problemsOf(e: Endpoint): ProblemKind[] {
  const kinds = new Set<ProblemKind>(e.problems);
  if (e.body || e.query || e.raw || e.upload) kinds.add('validation-error');
  if (e.access.credential !== 'none') kinds.add('unauthorized').add('forbidden');
  if (e.idempotent) kinds.add('conflict').add('validation-error');
  if (e.params) kinds.add('not-found');
  if (e.rate_limit) kinds.add('rate-limited');
  kinds.add('upstream-error').add('unavailable');
  return [...kinds].sort((a, b) => problemKinds[a].status - problemKinds[b].status);
}

/** The parameter names of a path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{([a-z_]+)\}/g)].map((match) => match[1] ?? '');
}
