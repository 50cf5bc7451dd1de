import type { z } from 'zod';
import { type Call, type DownloadMedia, type Endpoint, problemsOf } from './endpoint.ts';
import { ProblemDetails, problemKindOf, problemKinds } from './wire/problems.ts';

/** A file in a response. */
export interface ReceivedFile<M extends string> {
  readonly media: M;
  readonly filename: string;
  readonly text: string;
}

type OtherBody<E extends Endpoint> = E extends { readonly also: infer O }
  ? O extends { readonly body: infer S extends z.ZodType }
    ? z.output<S>
    : undefined
  : never;

type SuccessBody<E extends Endpoint> = E['success'] extends { body: infer S extends z.ZodType }
  ? z.output<S>
  : [DownloadMedia<E>] extends [never]
    ? undefined
    : ReceivedFile<DownloadMedia<E>>;

export interface Answer<E extends Endpoint> {
  readonly status: number;
  readonly headers: Headers;
  /** The body of the success, or of the other one. Reading it after a failure throws the problem as an error. */
  readonly body: SuccessBody<E> | OtherBody<E>;
  /** The problem, if the request failed. */
  readonly problem: (ProblemDetails & { readonly kind: string }) | undefined;
}

/** The response does not match the contract. */
export class ContractViolation extends Error {
  override readonly name = 'ContractViolation';
}

type SentHeaders = Readonly<Record<string, string>>;

export interface ClientOptions {
  readonly baseUrl: string;
  /** The bearer token, or a function that returns it. */
  readonly token?: string | (() => string | undefined) | undefined;
  /** Headers of every call, or a function that returns them. */
  readonly headers?: SentHeaders | (() => SentHeaders);
  /** Milliseconds after which a call fails. */
  readonly timeout?: number;
  /** The maximal size of a file in a response, which is read into memory. A larger one throws a RangeError. */
  readonly maxDownload?: number;
  /** The function that sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const defaultMaxDownload = 64 * 1024 * 1024;

export type Client = ReturnType<typeof createClient>;

/** A typed client of the API. Requests are typed, and responses checked, by the contracts. */
export function createClient(options: ClientOptions) {
  return {
    /** A client with the same settings but other headers or another token. */
    with: (more: Partial<ClientOptions>) => createClient({ ...options, ...more }),

    async call<const E extends Endpoint>(endpoint: E, input: Call<E> = {}): Promise<Answer<E>> {
      const token = typeof options.token === 'function' ? options.token() : options.token;
      const send = options.fetch ?? fetch;
      const response = await send(options.baseUrl + urlOf(endpoint, input), {
        method: endpoint.method,
        headers: {
          ...(typeof options.headers === 'function' ? options.headers() : options.headers),
          ...input.headers,
          ...(token && { authorization: `Bearer ${token}` }),
          ...(input.body !== undefined && { 'content-type': 'application/json' }),
          ...(input.upload && { 'content-type': input.upload.media }),
        },
        ...(input.body !== undefined && { body: JSON.stringify(input.body) }),
        ...(input.upload && { body: input.upload.content, duplex: 'half' }),
        ...(options.timeout !== undefined && { signal: AbortSignal.timeout(options.timeout) }),
      });
      const { success } = endpoint as Endpoint;
      if (success.download && response.status === success.status)
        return readDownload(endpoint, response, options.maxDownload ?? defaultMaxDownload);
      return readAnswer(endpoint, response);
    },
  };
}

function urlOf(endpoint: Endpoint, input: Call<Endpoint>): string {
  const params = (input.params ?? {}) as Record<string, string>;
  const path = endpoint.path.replaceAll(/\{([a-z_]+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {}))
    if (value !== undefined) query.set(name, String(value));
  return query.size > 0 ? `${path}?${query}` : path;
}

async function readAnswer<E extends Endpoint>(endpoint: E, response: Response): Promise<Answer<E>> {
  const text = await response.text();
  const { status, headers } = response;
  const what = `${endpoint.method} ${endpoint.path} answered ${status}`;
  const json = text === '' ? undefined : parseJson(text, what);

  const success = [endpoint.success, endpoint.also].find((one) => one?.status === status);
  if (success) {
    const body = success.body?.safeParse(json);
    if (body && !body.success) throw new ContractViolation(`${what}: ${body.error.message}`);
    if (!body && json !== undefined) throw new ContractViolation(`${what} with a body`);
    return { status, headers, body: body?.data as SuccessBody<E>, problem: undefined };
  }

  const parsed = ProblemDetails.safeParse(json);
  const kind = parsed.success ? problemKindOf(parsed.data) : undefined;
  const allowed = problemsOf(endpoint).find((k) => k === kind && problemKinds[k].status === status);
  const media = headers.get('content-type');
  if (!parsed.success || !allowed || media !== 'application/problem+json') {
    throw new ContractViolation(`${what} (${media}), which the contract does not list: ${text.slice(0, 500)}`);
  }
  const problem = { ...parsed.data, kind: allowed };
  return {
    status,
    headers,
    problem,
    get body(): never {
      throw new Error(`${what}: ${problem.kind}: ${problem.detail}`);
    },
  };
}

async function readDownload<E extends Endpoint>(endpoint: E, response: Response, limit: number): Promise<Answer<E>> {
  const { status, headers } = response;
  const what = `${endpoint.method} ${endpoint.path} answered ${status}`;
  const type = headers.get('content-type');
  const media = endpoint.success.download?.media.find((one) => type === `${one}; charset=utf-8`);
  const filename = /^attachment; filename="([^"]+)"$/.exec(headers.get('content-disposition') ?? '')?.[1];
  if (media === undefined || filename === undefined) {
    await response.body?.cancel();
    throw new ContractViolation(`${what} (${type}), which is no file that the contract lists`);
  }
  // A byte order mark is part of the file, so it must not be removed.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > limit) throw new RangeError(`${what} with a file larger than ${limit} bytes`);
    text += decoder.decode(chunk, { stream: true });
  }
  text += decoder.decode();
  const body: ReceivedFile<string> = { media, filename, text };
  return { status, headers, body: body as SuccessBody<E>, problem: undefined };
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ContractViolation(`${what} with a body that is not JSON: ${text.slice(0, 200)}`);
  }
}
