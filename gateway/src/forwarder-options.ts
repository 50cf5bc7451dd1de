import type { ServiceName } from '@attribution/contracts';

export interface ForwarderOptions {
  readonly upstreams: Partial<Record<ServiceName, string>>;
  /** Milliseconds until an upstream is given up: from the request's end to the answer's head, and without a sign of life. */
  readonly timeout: number;
}
