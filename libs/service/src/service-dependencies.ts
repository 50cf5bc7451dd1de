import type { Internal, Verifier } from '@attribution/auth';
import type { Transport } from '@attribution/messaging';
import type { Clock, RunningRole } from '@attribution/runtime';
import type { Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';

/** What a process gives each of its services. */
export interface ServiceDependencies {
  readonly databaseUrl: string;
  readonly poolSize?: number;
  /** Milliseconds until a statement is given up. */
  readonly statementTimeout?: number;
  /** What this process does of the service's work. Default: all of it. */
  readonly role?: RunningRole;
  /** An `api` needs none: its events wait in the outbox for a worker. */
  readonly transport?: Transport | undefined;
  readonly verifier: Verifier;
  readonly internal: Internal;
  readonly logger: Logger;
  /** Default: nothing is recorded. */
  readonly tracing?: Tracing;
  readonly problemBase: string;
  /** Checks every answer against its contract. */
  readonly checkAnswers: boolean;
  readonly clock?: Clock;
}
