import type { ServiceName } from '@attribution/contracts';

export interface ForwarderOptions {
  readonly upstreams: Partial<Record<ServiceName, string>>;
  /** Milliseconds until an upstream is given up: from the request's end to the answer's head, and without a sign of life. */
  readonly timeout: number;
}

/**
 * Milliseconds that an unused connection to an upstream is kept, whatever the upstream would allow. A process that stops
 * ends its connections when nothing has come for four seconds: what is sent on one just then is lost, also to a gateway
 * or a balancer between that is late by seconds.
 */
export const keepUnused = 500;
