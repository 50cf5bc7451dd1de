import type { ServerResponse } from 'node:http';
import { Problem } from '@attribution/contracts';

/** Sends a problem. If another response has begun already, it closes the connection instead. */
export function writeProblem(res: ServerResponse, problem: Problem, base: string): void {
  if (res.headersSent) {
    res.destroy();
    return;
  }
  const body = JSON.stringify(problem.toJSON(base));
  res.statusCode = problem.status;
  for (const [name, value] of Object.entries(problem.toHeaders())) res.setHeader(name, value);
  res.setHeader('cache-control', 'no-store');
  res.setHeader('content-length', Buffer.byteLength(body));
  res.end(body);
}

/** The problem that a caller receives for an error: a problem as it is, any other error as `unavailable` without its cause. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem('unavailable', 'The service could not answer for now. Try again.', { 'retry-after': '1' });
}
