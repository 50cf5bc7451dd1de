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
 * - `none`: no token. `any`: a person's token or a key's. `person`: a person's alone.
 * - `optional`: without a token, or with a person's.
 * - `internal`: a service among the `callers`, by its internal token; no such path exists at the gateway. A service that
 *   is its own caller does so by commands of its operators.
 * - `roles`: the roles that pass; omitted, all.
 * - `billing`: needs billing access (spec §4.4).
 * - `about_self`: concerns the caller alone, so per-service access does not apply.
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

/** A fixed window per client IP (spec §8). `unauthorized`: only answers of 401 count. */
export interface RateLimit {
  readonly window_seconds: number;
  readonly limit: number;
  readonly counts: 'requests' | 'unauthorized';
}

/** A body that is a file of text in UTF-8. */
export interface UploadRules {
  /** The media types that it may have, in lower case, without parameters: `text/csv`. */
  readonly media: readonly [string, ...string[]];
  readonly max_bytes: number;
  /** The beginning of such a file, by media type. */
  readonly example?: Readonly<Record<string, string>>;
}

/** A success body that is a file of text in UTF-8. */
export interface DownloadRules {
  /** The media types that it may have. */
  readonly media: readonly [string, ...string[]];
}

/** Everything there is to know about one endpoint. */
export interface Endpoint {
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `/v2/…`, Internal ones `/internal/v2/…`, notifications of others `/webhooks/…`; parameters in braces. */
  readonly path: `/v2/${string}` | `/internal/v2/${string}` | `/webhooks/${string}`;
  readonly service: ServiceName;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly rate_limit?: RateLimit;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Request headers of its own, in lower case; what is missing or odd is the handler's to judge. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Its body is a file; it has no `body` then. */
  readonly upload?: UploadRules;
  /** Its body is bytes, signed by whoever sends them: for one sender, and no part of the reference. */
  readonly raw?: true;
  /** Takes an `Idempotency-Key`. `secret`: its answer holds a secret and is not kept. */
  readonly idempotent?: true | 'secret';
  /** Its effect is at another's, outside the transaction: a repeated request is the same attempt there too (ADR 17). */
  readonly external?: true;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    readonly description: string;
    readonly body?: z.ZodType;
    /** It answers a file, and has no `body` then. Of a GET alone: no Idempotency-Key could keep it. */
    readonly download?: DownloadRules;
  };
  /** The problems of its own; those that follow from the other fields are added by `problemsOf`. */
  readonly problems?: readonly ProblemKind[];
}

/** Declares an endpoint. The one value serves gateway, service, document, client and tests. */
export function endpoint<const E extends Endpoint>(definition: E): E {
  return definition;
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;
type Given<S> = S extends z.ZodType ? z.input<S> : undefined;
type Part<E, K extends string> = E extends Record<K, infer S> ? S : undefined;

/** What a handler receives, parsed. */
export interface Input<E extends Endpoint> {
  readonly params: Parsed<Part<E, 'params'>>;
  readonly query: Parsed<Part<E, 'query'>>;
  readonly headers: Parsed<Part<E, 'headers'>>;
  readonly body: Parsed<Part<E, 'body'>>;
}

/** What a handler returns: the success body, or nothing. */
export type Output<E extends Endpoint> = Given<Part<E['success'], 'body'>>;

/** The media types of an endpoint's file, where it takes one. */
export type UploadMedia<E extends Endpoint> = E extends { readonly upload: infer U extends UploadRules }
  ? U['media'][number]
  : never;

/** The media types of the file that an endpoint answers, where it does. */
export type DownloadMedia<E extends Endpoint> = E['success'] extends {
  readonly download: infer D extends DownloadRules;
}
  ? D['media'][number]
  : never;

/** A file to send. Its length is announced unless it is a stream. */
export interface FileToSend<M extends string> {
  readonly media: M;
  readonly content: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
}

/** What a caller sends. Query values go as strings. */
export interface Call<E extends Endpoint> {
  readonly params?: Given<Part<E, 'params'>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Given<Part<E, 'body'>>;
  readonly upload?: FileToSend<UploadMedia<E>>;
}

/** Every problem an endpoint can answer, by ascending status. */
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
