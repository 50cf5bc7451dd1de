import { Counter, Histogram, type Registry } from 'prom-client';

export interface HttpMetrics {
  observe(request: { method: string; operation: string; status: number; seconds: number }): void;
}

/** Only these methods become label values. Any other is `other`, so that clients cannot add labels. */
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const isStatus = (status: number) => Number.isInteger(status) && status >= 100 && status <= 599;

/** Counts and times requests by operation, with a bounded set of label values whatever clients send. */
export function observeHttp(registry: Registry, service: string): HttpMetrics {
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered; 499: the client disconnected before the response',
    labelNames: ['service', 'method', 'operation', 'status'],
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'http_request_seconds',
    help: 'Time to answer',
    labelNames: ['service', 'operation'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return {
    observe({ method: given, operation, status: answered, seconds }) {
      const method = methods.has(given) ? given : 'other';
      const status = isStatus(answered) ? answered : 'other';
      requests.inc({ service, method, operation, status });
      duration.observe({ service, operation }, seconds);
    },
  };
}

/** The status of a response; 499, like nginx, if the client disconnected before it. */
export const answeredStatus = (res: { readonly headersSent: boolean; readonly statusCode: number }): number =>
  res.headersSent ? res.statusCode : 499;
