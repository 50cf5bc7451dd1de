import { z } from 'zod';

/** Every kind of problem (spec §7; `unavailable` is 503). The status and title follow from the kind. */
export const problemKinds = {
  'validation-error': { status: 400, title: 'The request is not valid' },
  unauthorized: { status: 401, title: 'Not authenticated' },
  'insufficient-balance': { status: 402, title: 'Not enough tokens' },
  forbidden: { status: 403, title: 'Not allowed' },
  'not-found': { status: 404, title: 'Not found' },
  conflict: { status: 409, title: 'Conflict with the current state' },
  gone: { status: 410, title: 'No longer valid' },
  unprocessable: { status: 422, title: 'Not permitted' },
  'rate-limited': { status: 429, title: 'Too many requests' },
  'upstream-error': { status: 502, title: 'A dependency failed' },
  unavailable: { status: 503, title: 'Unavailable for the moment' },
} as const;

export type ProblemKind = keyof typeof problemKinds;

/** RFC 9457 problem details. */
export const ProblemDetails = z
  .object({
    type: z
      .string()
      .meta({ description: 'Branch on the last segment: the kind', example: 'https://problems.example.com/not-found' }),
    title: z.string().meta({ description: 'Short, the same for each problem of a kind', example: 'Not found' }),
    status: z.int().meta({ description: 'The HTTP status again', example: 404 }),
    detail: z.string().meta({ description: 'What went wrong this time; for people, never parsed' }),
  })
  .meta({ id: 'Problem', description: 'Problem details (RFC 9457)' });
export type ProblemDetails = z.output<typeof ProblemDetails>;

/** The same response for missing and for invisible resources, so that ids cannot be probed. */
export const notFoundDetail = 'There is no such resource, or it is not visible to this account.';

/** The error that any code throws for a failed request. One middleware writes it as problem details. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly kind: ProblemKind;
  readonly detail: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: ProblemKind, detail: string, headers: Record<string, string> = {}) {
    super(`${kind}: ${detail}`);
    this.kind = kind;
    this.detail = detail;
    this.headers = headers;
  }

  static notFound(): Problem {
    return new Problem('not-found', notFoundDetail);
  }

  get status(): number {
    return problemKinds[this.kind].status;
  }

  /** The body on the wire. `base` is the prefix of `type`, without the closing slash. */
  toJSON(base: string): ProblemDetails {
    const { status, title } = problemKinds[this.kind];
    return { type: `${base}/${this.kind}`, title, status, detail: this.detail };
  }

  /** The response headers of this problem, including those that its status requires. */
  toHeaders(): Record<string, string> {
    const challenge = this.kind === 'unauthorized' ? { 'www-authenticate': 'Bearer' } : {};
    return { 'content-type': 'application/problem+json', ...challenge, ...this.headers };
  }
}

/** The last segment of a problem's `type`. */
export function problemKindOf(problem: ProblemDetails): string {
  return problem.type.slice(problem.type.lastIndexOf('/') + 1);
}
