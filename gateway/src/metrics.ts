import type { ServiceName } from '@attribution/contracts';
import { Counter, type Registry } from 'prom-client';

/** The metrics that only the gateway has; `observeHttp` counts its requests. */
export function observeGateway(registry: Registry, upstreams: readonly ServiceName[]) {
  const registers = [registry];
  const fallbacks = new Counter({
    name: 'rate_limit_fallbacks_total',
    help: 'Counts made in-process because Redis did not answer',
    registers,
  });
  const failures = new Counter({
    name: 'upstream_failures_total',
    help: 'Requests that a service behind the gateway did not answer',
    labelNames: ['upstream'],
    registers,
  });
  for (const upstream of upstreams) failures.inc({ upstream }, 0);
  return {
    countFallback: () => fallbacks.inc(),
    countFailure: (upstream: ServiceName) => failures.inc({ upstream }),
  };
}
