import { randomBytes } from 'node:crypto';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { type Endpoint, ProblemDetails, problemKindOf } from '@attribution/contracts';

/** A request and its outcome. */
export interface Exchange {
  readonly what: string;
  /** When it was sent, in terms of performance.now(), and the milliseconds until the end of the response. */
  readonly at: number;
  readonly ms: number;
  /** `done`; `unavailable` for a 503 that is as the contract wants it; or a description of what was wrong. */
  readonly outcome: 'done' | 'unavailable' | (string & {});
  /** The body of a successful response; otherwise empty. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface ExchangeRequest {
  readonly what: string;
  readonly endpoint: Endpoint;
  /** The value of the path's parameter. */
  readonly id?: string;
  readonly body?: object;
  readonly token?: string;
}

/** Longer than any request may take. */
const timeoutMs = 40_000;

/** Sends one request. Never rejects. */
export function exchange(baseUrl: string, agent: Agent, input: ExchangeRequest): Promise<Exchange> {
  const { what, endpoint, body } = input;
  const at = performance.now();
  const text = body && JSON.stringify(body);
  const headers = {
    ...(input.token && { authorization: `Bearer ${input.token}` }),
    ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    'x-forwarded-for': randomBytes(4).join('.'), // A new address each time, because rate limits count by address.
  };
  return new Promise((resolve) => {
    const settle = (outcome: string, answer: Readonly<Record<string, unknown>> = {}) => {
      clearTimeout(timer);
      resolve({ what, at, ms: performance.now() - at, outcome, body: answer });
    };
    const path = endpoint.path.replace(/\{[a-z_]+\}/, input.id ?? '');
    const req = request(baseUrl + path, { method: endpoint.method, agent, headers });
    const timer = setTimeout(() => req.destroy(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    req.on('error', (error: NodeJS.ErrnoException) => settle(`cut: ${error.code ?? error.message}`));
    req.on('response', (res) => {
      let answer = '';
      res.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
      res.on('error', (error: NodeJS.ErrnoException) => settle(`cut within the answer: ${error.code}`));
      res.on('end', () => {
        const outcome = judge(endpoint, res, answer);
        settle(outcome, outcome === 'done' && answer ? (JSON.parse(answer) as Record<string, unknown>) : {});
      });
    });
    req.end(text);
  });
}

function judge(endpoint: Endpoint, res: IncomingMessage, text: string): string {
  const { statusCode: status, headers } = res;
  if (status === endpoint.success.status) return 'done';
  if (headers['content-type'] !== 'application/problem+json') return `${status} without problem details`;
  const problem = ProblemDetails.parse(JSON.parse(text));
  const kind = problemKindOf(problem);
  if (status !== 503 || kind !== 'unavailable') return `${status} ${kind}: ${problem.detail}`;
  return headers['retry-after'] === undefined ? '503 without retry-after' : 'unavailable';
}
