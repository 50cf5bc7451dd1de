import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';

export interface HttpMetrics {
  observe(request: { method: string; operation: string; status: number; seconds: number }): void;
}

let ofProcess: Registry | undefined;

/** Measures the process itself from here on: called where a program begins, as what observes a process never ends. */
export function observeProcess(): void {
  if (ofProcess) return;
  ofProcess = new Registry();
  collectDefaultMetrics({ register: ofProcess });
}

/** What is measured of the process and of what the registry is for, as Prometheus text. */
export function writeMetrics(registry: Registry): Promise<string> {
  return (ofProcess ? Registry.merge([ofProcess, registry]) : registry).metrics();
}

/** Requests counted and timed by operation, so that no path or id becomes a label. */
export function observeHttp(registry: Registry, service: string): HttpMetrics {
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests answered',
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
    observe({ method, operation, status, seconds }) {
      requests.inc({ service, method, operation, status });
      duration.observe({ service, operation }, seconds);
    },
  };
}
