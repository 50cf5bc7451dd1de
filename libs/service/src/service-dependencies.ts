import type { Internal, Verifier } from '@attribution/auth';
import type { ByteBudget } from '@attribution/http';
import type { Transport } from '@attribution/messaging';
import type { Clock, RunningRole } from '@attribution/runtime';
import type { Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';

/** What a process gives each of its services. */
export interface ServiceDependencies {
  readonly databaseUrl: string;
  readonly poolSize?: number;
  /** Milliseconds after which a statement is cancelled. */
  readonly statementTimeout?: number;
  /** Milliseconds for getting a connection to the database. */
  readonly connectionTimeout?: number;
  /** The role of this process. Default: `all`. */
  readonly role?: RunningRole;
  /** An `api` needs none: its events wait in the outbox until a worker publishes them. */
  readonly transport?: Transport | undefined;
  readonly verifier: Verifier;
  readonly internal: Internal;
  readonly logger: Logger;
  /** Default: no spans are recorded. */
  readonly tracing?: Tracing;
  /** What the process may hold of request bodies. Default: a budget of its own. */
  readonly bodies?: ByteBudget;
  /** What the process may hold of files on disk. Default: a budget of its own. */
  readonly files?: ByteBudget;
  readonly problemBase: string;
  /** Whether to check every response against its contract. */
  readonly checkAnswers: boolean;
  readonly clock?: Clock;
}
