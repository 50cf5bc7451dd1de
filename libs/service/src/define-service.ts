import {
  auditEvents,
  type Client,
  type EventType,
  isRecorded,
  type ServiceName,
  type Topic,
} from '@attribution/contracts';
import type { Database, DatabaseOptions, SqlTransaction } from '@attribution/database';
import { type Completion, createOutbox, type EventHandler, type Outbox } from '@attribution/messaging';
import type { Clock, RunningRole } from '@attribution/runtime';
import type { Registry } from 'prom-client';
import type { z } from 'zod';
import { auditByEvents, type WriteAudit } from './audit.ts';
import { type Calls, clientsOf, type ProcessRole } from './calls.ts';
import { type Follow, followedEvents, followJobs } from './follow.ts';
import type { Implementation } from './implement.ts';
import type { Job } from './jobs.ts';
import type { Operations, OwnOperations } from './operations.ts';
import { type Purges, purgeJobs } from './purges.ts';
import { openService, type Service } from './service.ts';
import { type Environment, type ProcessSettings, readOwnConfig, readServiceConfig } from './service-config.ts';
import type { ServiceDependencies } from './service-dependencies.ts';

/** What a service's containers need that cannot be derived from the rest of its definition. */
export interface Deployment {
  readonly compose?: {
    /** The reason for it, written above the service's section of docker-compose.yml. */
    readonly comment?: string;
    /** `SMTP_URL: 'smtp://mailpit:1025'` */
    readonly environment?: Readonly<Record<string, string>>;
    /** `payments:/var/lib/payments` */
    readonly volumes?: readonly string[];
    readonly ports?: Readonly<Partial<Record<ProcessRole, readonly string[]>>>;
  };
  readonly kubernetes?: {
    /** Literals of the ConfigMap with its settings. */
    readonly environment?: Readonly<Record<string, string>>;
    /** Settings that are the path of a mounted secret, by the setting's name. */
    readonly files?: Readonly<Record<string, { readonly secret: string; readonly key: string }>>;
    /** The CPU that a container requests, and why that much. */
    readonly cpu?: Readonly<Partial<Record<ProcessRole, { readonly request: string; readonly why: string }>>>;
    /** Connections that may leave the cluster. */
    readonly egress?: readonly {
      readonly name: string;
      readonly why: string;
      readonly roles: readonly ProcessRole[];
      readonly port: number;
    }[];
  };
}

/** What is known about a service without opening it. Documents, manifests and commands are made from it. */
interface ServiceDescription<S extends z.ZodObject> {
  readonly name: ServiceName;
  /** One line, for documents. */
  readonly summary: string;
  /** The folder of its migrations. */
  readonly migrations: URL;
  /**
   * Tables that its processes add to and read, and never change. If there are any, the processes connect to the database as
   * a role that does not own it (ADR 35).
   */
  readonly appendOnly: readonly string[];
  /**
   * The service's own settings, read from the environment besides those that every service has. Each has
   * `.meta({ description })`, and `secret: true` if it is a secret. Addresses of other services follow from `calls`.
   */
  readonly settings: S;
  readonly publishes: readonly Topic[];
  /** The events that it handles, including those of `follows`. */
  readonly handles: readonly EventType[];
  readonly deployment?: Deployment;
}

/** A service as a value. Everything else in the repository knows a service by this value alone. */
export interface ServiceDefinition<S extends z.ZodObject = z.ZodObject> extends ServiceDescription<S> {
  /** For each called service the process reads the setting `<NAME>_URL`. */
  readonly calls: Calls;
  /** Tables that are projections of another service, by the names of their snapshots. */
  readonly follows: Readonly<Record<string, Pick<Follow, 'from' | 'tables'>>>;
  /** Throws when settings contradict each other. */
  check?(config: z.output<S>, process: ProcessSettings): void;
  /** Opens the service in a process. Throws when the environment lacks a setting. */
  create(dependencies: ServiceDependencies, environment: Environment): Service;
  /** Opens its database for an operator's commands, while its processes run or not. */
  openOperations(dependencies: OperationsDependencies): Operations;
}

interface OperationsDependencies {
  readonly url: string;
  readonly clock: Clock;
  readonly environment: Environment;
}

/** What `open` is given to make a service. */
export interface OpenDependencies<Db, Config, Called extends ServiceName = never>
  extends Pick<ServiceDependencies, 'verifier' | 'problemBase' | 'logger'> {
  readonly database: Db;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly config: Config;
  /** A client for each service that it calls. */
  readonly clients: Readonly<Record<Called, Client>>;
  readonly role: RunningRole;
  /** Where its own metrics are registered, labelled with the service's name. */
  readonly registry: Registry;
  /** Runs a job now, or has a worker run it. */
  wake(job: string): void;
}

/** What a service does. `defineService` says what is added to it. */
export interface ServiceContents<Tx> {
  readonly implementations: readonly Implementation[];
  readonly handlers?: readonly EventHandler<Tx>[];
  readonly jobs?: readonly Job[];
  /** Writes to the audit log, in the service that keeps it. Default: appends an event for that service. */
  readonly writeAudit?: WriteAudit;
  /** Called before the relay and the jobs start. */
  start?(): void;
  /** Called while the relay and the jobs stop. It has until `deadline` (ms since the epoch). */
  drain?(deadline: number): Promise<void>;
}

/** What purges are given to work with, in a worker and in an operator's command. */
interface PurgeDependencies<Db> {
  readonly database: Db;
  readonly outbox: Outbox;
  readonly clock: Clock;
  /** An operator's command may lack settings of the service, so a purge reads those that it needs. */
  readonly environment: Environment;
}

/** The argument of `defineService`. */
interface ServiceSource<S extends z.ZodObject, C extends Calls, Store extends SqlTransaction, Tx extends SqlTransaction>
  extends Omit<ServiceDescription<S>, 'handles' | 'appendOnly'> {
  readonly appendOnly?: readonly string[];
  readonly calls?: C;
  readonly follows?: Readonly<Record<string, Follow>>;
  /** The events that `open` returns handlers for. Default: none. */
  readonly handles?: readonly EventType[];
  check?(config: z.output<S>, process: ProcessSettings): void;
  readonly openDatabase: (options: DatabaseOptions) => Database<Store, Tx>;
  open(dependencies: OpenDependencies<Database<Store, Tx>, z.output<S>, keyof C & ServiceName>): ServiceContents<Tx>;
  /** Its purges, by the names of their jobs. Each runs once an hour, or every `purgeEvery` milliseconds. */
  purges?(dependencies: PurgeDependencies<Database<Store, Tx>>): Purges;
  readonly purgeEvery?: Readonly<Record<string, number>>;
  /** How its relay completes the events that are appended by reference. */
  readonly completions?: readonly Completion[];
  /** Its own commands for operators. `config` reads the settings when it is called, as not every command needs them. */
  operations?(
    dependencies: Pick<OperationsDependencies, 'clock'> & {
      readonly database: Database<Store, Tx>;
      readonly outbox: Outbox;
      config(): z.output<S>;
    },
  ): OwnOperations;
}

/** An operator's command may read a whole table, which takes longer than the statements of a request may. */
const commandStatementTimeoutMs = 60_000;

/**
 * Declares a service. It adds to the result of `open` what every service has (outbox, inbox, idempotency keys, health,
 * metrics), the handlers and catch-up jobs of the projections in `follows`, and a job for each purge.
 */
export function defineService<
  S extends z.ZodObject,
  const C extends Calls,
  Store extends SqlTransaction,
  Tx extends SqlTransaction,
>(source: ServiceSource<S, C, Store, Tx>): ServiceDefinition<S> {
  const { name, summary, migrations, settings, deployment, check, openDatabase } = source;
  const audit = auditEvents[name];
  const publishes = [...source.publishes, ...(audit ? [audit.topic] : [])];
  const { calls = {}, follows = {}, handles = [], appendOnly = [] } = source;
  const purges = (dependencies: PurgeDependencies<Database<Store, Tx>>) => source.purges?.(dependencies) ?? {};
  requireCalls(name, calls, follows);

  const definition: ServiceDefinition<S> = {
    ...{ name, summary, migrations, appendOnly, settings, publishes, calls, follows },
    ...(deployment && { deployment }),
    ...(check && { check }),
    handles: [...new Set([...handles, ...followedEvents(follows)])],

    create(dependencies, environment) {
      const { role = 'all' } = dependencies;
      const { config, addresses } = readServiceConfig(definition, environment, role);
      const service = openService(name, dependencies, openDatabase, source.completions);
      const { database, outbox, clock, logger, registry } = service;
      const clients = clientsOf(name, calls, addresses, dependencies.internal.sign);
      const { verifier, problemBase } = dependencies;
      const contents = source.open({
        ...{ database, outbox, clock, logger, registry, config, role, verifier, problemBase },
        clients: clients as Readonly<Record<keyof C & ServiceName, Client>>,
        wake: service.wake,
      });
      requireHandlers(name, handles, contents.handlers ?? []);
      const { implementations, writeAudit = auditByEvents(name, outbox) } = contents;
      requireAudit(name, implementations, writeAudit);
      return service.assemble({
        ...contents,
        publishes,
        writeAudit,
        handlers: [...Object.values(follows).flatMap(({ handlers }) => handlers), ...(contents.handlers ?? [])],
        jobs: [
          ...followJobs(follows, { database, clients, logger }),
          ...(contents.jobs ?? []),
          ...purgeJobs(purges({ database, outbox, clock, environment }), source.purgeEvery),
        ],
      });
    },

    openOperations({ url, clock, environment }) {
      const database = openDatabase({ url, poolSize: 2, statementTimeout: commandStatementTimeoutMs });
      const outbox = createOutbox(() => {}); // No wake-up: the worker's relay polls the outbox anyway.
      const config = () => readOwnConfig(definition, environment);
      return {
        purges: purges({ database, outbox, clock, environment }),
        projections: Object.fromEntries(
          Object.entries(follows).map(([snapshot, { tables, kept }]) => [snapshot, { tables, kept }]),
        ),
        ...source.operations?.({ database, outbox, clock, config }),
        close: () => database.close(),
      };
    },
  };
  return definition;
}

/** A job reads the snapshot, so the service's worker must be among the declared callers. */
function requireCalls(name: ServiceName, calls: Calls, follows: Readonly<Record<string, Follow>>): void {
  for (const [snapshot, { from }] of Object.entries(follows))
    if (!calls[from]?.includes('worker'))
      throw new Error(`${name} follows ${snapshot} of ${from}: its worker has to be among its calls`);
}

function requireAudit(
  name: ServiceName,
  implementations: readonly Implementation[],
  write: WriteAudit | undefined,
): void {
  const unrecorded = implementations.find(({ contract }) => isRecorded(contract));
  if (unrecorded && !write)
    throw new Error(`${name}: nothing takes the audit records of ${unrecorded.contract.operation}`);
}

function requireHandlers<Tx>(name: ServiceName, handles: readonly EventType[], given: readonly EventHandler<Tx>[]) {
  const names = (events: readonly EventType[]) => [...new Set(events.map(({ type }) => type))].toSorted().join(', ');
  const [declared, made] = [names(handles), names(given.map(({ event }) => event))];
  if (declared !== made)
    throw new Error(
      `${name} declares that it handles ${declared || 'nothing'}, but has handlers of ${made || 'nothing'}`,
    );
}
