import type { ServiceName } from '@attribution/contracts';

export interface ForwarderOptions {
  readonly upstreams: Partial<Record<ServiceName, string>>;
  /** How long an upstream may take from the end of the request to the head of its response, and between two pieces of data. */
  readonly timeoutMs: number;
}

/**
 * How long an idle connection to an upstream is kept, even if the upstream would keep it longer. A stopping process
 * closes its connections after four seconds without a request, and a request sent at that moment would be lost. 500 ms
 * leaves a margin for a gateway, or a load balancer in between, that is seconds late.
 */
export const idleConnectionMs = 500;
