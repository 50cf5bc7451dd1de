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

/** The programs that are no services, and let clients in: people and keys, and devices. */
export const edgeNames = ['gateway', 'ingress'] as const;

/** Who calls Internal endpoints: services; the gateway, which reports what it has refused; the ingress, which asks about devices. */
export const callerNames = [...serviceNames, ...edgeNames] as const;
export type CallerName = (typeof callerNames)[number];

export type Role = 'owner' | 'admin' | 'member' | 'viewer';

/**
 * Who may call.
 * - `none`: no token is needed. `any`: the token of a person or a key. `person`: only a person's token.
 * - `optional`: no token, or a person's.
 * - `device`: a device, by its certificate, which the ingress judges; a service gets a token of the ingress about the device.
 *   `factory`: a device without a certificate, whose factory key signs the body. Only the ingress knows these paths.
 * - `even_suspended`: a device that is suspended may call too.
 * - `internal`: those in `callers`, by an internal token. The gateway does not know the path. A service that is among
 *   its own callers calls the endpoint from its operators' commands.
 * - `roles`: the roles that are allowed; all, if it is omitted.
 * - `billing`: the caller needs billing access (spec §4.4).
 * - `about_self`: the endpoint concerns the caller alone, so per-service access does not apply.
 */
export type Access =
  | { readonly credential: 'none' | 'optional' | 'factory' }
  | { readonly credential: 'device'; readonly even_suspended?: true }
  | { readonly credential: 'internal'; readonly callers: readonly CallerName[] }
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
  /** A request changes nothing, although its method is not GET. */
  readonly changes_nothing?: true;
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
  /**
   * The bytes of a file of any kind and size pass through, in the body of the request (PUT) or of the response (GET, with
   * ranges). Nothing holds them. Its URLs are signed, opaque, and only given out by other endpoints, so it is not in the API
   * reference.
   */
  readonly stream?: 'received' | 'sent';
  /** The largest body in bytes, if it is not the one that `bodyLimitOf` derives from the access. */
  readonly max_body_bytes?: number;
  /** The list in the body whose items the service judges one by one: text that cannot be kept is the fault of its item alone. */
  readonly items_apart?: string;
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
  /** Another successful response, which the handler chooses by `otherwise(…)`. */
  readonly also?: {
    readonly status: 202 | 204;
    readonly description: string;
    readonly body?: z.ZodType;
  };
  /** It takes long, or much: accounts, and their credentials, take turns. So do uploads, which need not say it. */
  readonly turns?: 'export' | 'search' | 'page' | 'batch';
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

/** The body of the other successful response. */
export type OtherOutput<E extends Endpoint> = Given<Field<NonNullable<E['also']>, 'body'>>;

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

/** The largest body of an endpoint that needs no token: nobody is known who could be held to a larger share. */
const anonymousBodyBytes = 16 * 1024;
/** The largest body of any other endpoint. */
const bodyBytes = 1024 * 1024;

/** Whether an endpoint may be called without a token. */
export const isAnonymous = ({ access: { credential } }: Pick<Endpoint, 'access'>): boolean =>
  credential === 'none' || credential === 'optional' || credential === 'factory';

/** The largest body of an endpoint, in bytes, unless it is a file. */
export const bodyLimitOf = (e: Pick<Endpoint, 'access' | 'max_body_bytes'>): number =>
  e.max_body_bytes ?? (isAnonymous(e) ? anonymousBodyBytes : bodyBytes);

/** Every problem that an endpoint can respond with, by ascending status. */
export function problemsOf(e: Endpoint): ProblemKind[] {
  const kinds = new Set<ProblemKind>(e.problems);
  if (e.body || e.query || e.raw || e.upload || e.stream) kinds.add('validation-error');
  const { credential } = e.access;
  if (credential !== 'none') kinds.add('unauthorized');
  if (credential !== 'none' && credential !== 'factory' && !('even_suspended' in e.access)) kinds.add('forbidden');
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
