import type { IncomingMessage, ServerResponse } from 'node:http';
import { Problem } from '@attribution/contracts';
import { problemOf, writeProblem } from '@attribution/http';
import { writeMetrics } from '@attribution/runtime';
import type { Registry } from 'prom-client';

interface HealthOptions {
  readonly registry: Registry;
  readonly stopping: () => boolean;
  readonly problemBase: string;
}

/** What the ingress says about itself, on a port that devices do not reach. */
export function ingressHealth({ registry, stopping, problemBase }: HealthOptions) {
  const ok = (res: ServerResponse) => void res.setHeader('content-type', 'application/json').end('{"status":"ok"}');
  return ({ url, method }: IncomingMessage, res: ServerResponse): void => {
    const refuse = (problem: Problem) => writeProblem(res, problem, problemBase);
    if (method === 'GET' && url === '/healthz') ok(res);
    else if (method === 'GET' && url === '/readyz' && !stopping()) ok(res);
    else if (method === 'GET' && url === '/readyz')
      refuse(new Problem('unavailable', 'Not ready: stopping.', { 'retry-after': '1' }));
    else if (method === 'GET' && url === '/metrics')
      writeMetrics(registry).then(
        (text) => res.setHeader('content-type', registry.contentType).end(text),
        (error: unknown) => refuse(problemOf(error)),
      );
    else refuse(Problem.notFound());
  };
}
