import type { ServiceName } from '@attribution/contracts';
import { Counter, type Registry } from 'prom-client';

/** What a client had too many of. */
const clientRefusals = ['connections', 'requests', 'bodies'] as const;
export type ClientRefusal = (typeof clientRefusals)[number];

/** The metrics that the gateway and the ingress have; `observeHttp` counts their requests. */
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
  const refusals = new Counter({
    name: 'clients_refused_total',
    help: 'Connections, and requests through a proxy, that were refused because their client had too many',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of clientRefusals) refusals.inc({ reason }, 0);
  for (const upstream of upstreams) failures.inc({ upstream }, 0);
  return {
    countFallback: () => fallbacks.inc(),
    countRefusal: (reason: ClientRefusal) => refusals.inc({ reason }),
    countFailure: (upstream: ServiceName) => failures.inc({ upstream }),
  };
}
