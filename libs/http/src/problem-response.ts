import type { ServerResponse } from 'node:http';
import { Problem } from '@attribution/contracts';

/** Ends a response with a problem. When part of another answer is out already, the connection is cut instead. */
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

/** What a caller is told of any error: problems as they are, faults of ours as `unavailable`, without their cause. */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem('unavailable', 'The service could not answer for now; try again.', { 'retry-after': '1' });
}
