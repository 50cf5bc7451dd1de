import { randomBytes } from 'node:crypto';
import { type Agent, type IncomingMessage, request } from 'node:http';
import { type Endpoint, ProblemDetails, problemKindOf } from '@attribution/contracts';

/** One request and what came of it. */
export interface Exchange {
  readonly what: string;
  /** When it was sent, by performance.now(), and how long it took until the end of the answer, milliseconds. */
  readonly at: number;
  readonly ms: number;
  /** `done`; `unavailable`, with all that such an answer has; or what was wrong, in words. */
  readonly outcome: 'done' | 'unavailable' | (string & {});
  /** What was answered, where it was done. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Ask {
  readonly what: string;
  readonly endpoint: Endpoint;
  /** Of the path's parameter. */
  readonly id?: string;
  readonly body?: object;
  readonly token?: string;
}

/** Longer than anything may take. */
const patience = 40_000;

/** Sends one request. Never rejects. */
export function exchange(baseUrl: string, agent: Agent, ask: Ask): Promise<Exchange> {
  const { what, endpoint, body } = ask;
  const at = performance.now();
  const text = body && JSON.stringify(body);
  const headers = {
    ...(ask.token && { authorization: `Bearer ${ask.token}` }),
    ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    'x-forwarded-for': randomBytes(4).join('.'), // The limits count by address.
  };
  return new Promise((resolve) => {
    const settle = (outcome: string, answer: Readonly<Record<string, unknown>> = {}) => {
      clearTimeout(late);
      resolve({ what, at, ms: performance.now() - at, outcome, body: answer });
    };
    const path = endpoint.path.replace(/\{[a-z_]+\}/, ask.id ?? '');
    const req = request(baseUrl + path, { method: endpoint.method, agent, headers });
    const late = setTimeout(() => req.destroy(new Error(`no answer within ${patience / 1000} s`)), patience);
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
