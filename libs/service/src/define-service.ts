import type { Client, EventType, ServiceName, Topic } from '@attribution/contracts';
import type { Database, DatabaseOptions, SqlTransaction } from '@attribution/database';
import { createOutbox, type EventHandler, type Outbox } from '@attribution/messaging';
import type { Clock, RunningRole } from '@attribution/runtime';
import type { z } from 'zod';
import { type Calls, clientsOf, type ProcessRole } from './calls.ts';
import { type Follow, followedEvents, followJobs } from './follow.ts';
import type { Implementation } from './implement.ts';
import type { Job } from './jobs.ts';
import type { Operations, OwnOperations } from './operations.ts';
import { type Purges, purgeJobs } from './purges.ts';
import { openService, type Service } from './service.ts';
import { type Environment, type ProcessSettings, readOwnConfig, readServiceConfig } from './service-config.ts';
import type { ServiceDependencies } from './service-dependencies.ts';

/** What its containers need that does not follow from anything else. */
export interface Deployment {
  readonly compose?: {
    /** Why it is so: stands above its part of docker-compose.yml. */
    readonly comment?: string;
    /** `SMTP_URL: 'smtp://mailpit:1025'` */
    readonly environment?: Readonly<Record<string, string>>;
    /** `payments:/var/lib/payments` */
    readonly volumes?: readonly string[];
    readonly ports?: Readonly<Partial<Record<ProcessRole, readonly string[]>>>;
  };
  readonly kubernetes?: {
    /** Literals of its settings' ConfigMap. */
    readonly environment?: Readonly<Record<string, string>>;
    /** Settings that are the path of a mounted secret, by the setting's name. */
    readonly files?: Readonly<Record<string, { readonly secret: string; readonly key: string }>>;
    /** Cores that a container asks for, and why it is so many. */
    readonly cpu?: Readonly<Partial<Record<ProcessRole, { readonly request: string; readonly why: string }>>>;
    /** Ways out of the cluster. */
    readonly egress?: readonly {
      readonly name: string;
      readonly why: string;
      readonly roles: readonly ProcessRole[];
      readonly port: number;
    }[];
  };
}

/** What is known of a service before it is opened: documents, manifests and commands are made from it. */
interface ServiceDescription<S extends z.ZodObject> {
  readonly name: ServiceName;
  /** One line, for documents. */
  readonly summary: string;
  /** The folder of its migrations. */
  readonly migrations: URL;
  /**
   * What it reads from the environment besides what every service reads. Each ends with `.meta({ description })`, and
   * `secret: true` where its value is one; addresses of other services follow from `calls`.
   */
  readonly settings: S;
  readonly publishes: readonly Topic[];
  /** The events that it handles, those of what it follows among them. */
  readonly handles: readonly EventType[];
  readonly deployment?: Deployment;
}

/** A service as a value: everything else in the repository that knows a service knows it by this. */
export interface ServiceDefinition<S extends z.ZodObject = z.ZodObject> extends ServiceDescription<S> {
  /** For each of them it reads `<NAME>_URL`. */
  readonly calls: Calls;
  /** Tables that follow another service, by the names of their snapshots. */
  readonly follows: Readonly<Record<string, Pick<Follow, 'from' | 'tables'>>>;
  /** What has to hold between settings; throws. */
  check?(config: z.output<S>, process: ProcessSettings): void;
  /** Opens it for a process. Throws when the environment lacks what it reads. */
  create(dependencies: ServiceDependencies, environment: Environment): Service;
  /** Opens its database beside its processes, for whoever looks after it. */
  openOperations(dependencies: OperationsDependencies): Operations;
}

interface OperationsDependencies {
  readonly url: string;
  readonly clock: Clock;
  readonly environment: Environment;
}

/** What `open` makes a service of. */
export interface OpenDependencies<Db, Config, Called extends ServiceName = never>
  extends Pick<ServiceDependencies, 'verifier' | 'problemBase' | 'logger'> {
  readonly database: Db;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly config: Config;
  /** Of each service that it calls. */
  readonly clients: Readonly<Record<Called, Client>>;
  readonly role: RunningRole;
  /** Runs a job now, or has a worker run it. */
  wake(job: string): void;
}

/** What a service does; see `defineService` for what is added to it. */
export interface ServiceContents<Tx> {
  readonly implementations: readonly Implementation[];
  readonly handlers?: readonly EventHandler<Tx>[];
  readonly jobs?: readonly Job[];
  /** Before the relay and the jobs start. */
  start?(): void;
  /** While they stop; until `deadline` (ms since the epoch). */
  drain?(deadline: number): Promise<void>;
}

/** What purges work on, in a worker and beside it. */
interface PurgeDependencies<Db> {
  readonly database: Db;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** A service as it is written down. */
interface ServiceSource<S extends z.ZodObject, C extends Calls, Store extends SqlTransaction, Tx extends SqlTransaction>
  extends Omit<ServiceDescription<S>, 'handles'> {
  readonly calls?: C;
  readonly follows?: Readonly<Record<string, Follow>>;
  /** What `open` returns handlers of. Default: nothing. */
  readonly handles?: readonly EventType[];
  check?(config: z.output<S>, process: ProcessSettings): void;
  readonly openDatabase: (options: DatabaseOptions) => Database<Store, Tx>;
  open(dependencies: OpenDependencies<Database<Store, Tx>, z.output<S>, keyof C & ServiceName>): ServiceContents<Tx>;
  /** What it forgets, by the names of the jobs that do it: each hour, or as often as `purgeEvery` says (milliseconds). */
  purges?(dependencies: PurgeDependencies<Database<Store, Tx>>): Purges;
  readonly purgeEvery?: Readonly<Record<string, number>>;
  /** What else is asked of it beside its processes. `config` reads the settings when it is called. */
  operations?(
    dependencies: Pick<OperationsDependencies, 'clock'> & {
      readonly database: Database<Store, Tx>;
      config(): z.output<S>;
    },
  ): OwnOperations;
}

/** Milliseconds that a statement of a command may take: it may be about a whole table. */
const commandStatementTimeout = 60_000;

/**
 * Declares a service. To what `open` returns are added: the handlers and the catch-up jobs of what it follows, the jobs
 * that purge, and all that every service has (outbox, inbox, keys, health, metrics).
 */
export function defineService<
  S extends z.ZodObject,
  const C extends Calls,
  Store extends SqlTransaction,
  Tx extends SqlTransaction,
>(source: ServiceSource<S, C, Store, Tx>): ServiceDefinition<S> {
  const { name, summary, migrations, settings, publishes, deployment, check, openDatabase } = source;
  const { calls = {}, follows = {}, handles = [] } = source;
  const purges = (dependencies: PurgeDependencies<Database<Store, Tx>>) => source.purges?.(dependencies) ?? {};
  requireCalls(name, calls, follows);

  const definition: ServiceDefinition<S> = {
    ...{ name, summary, migrations, settings, publishes, calls, follows },
    ...(deployment && { deployment }),
    ...(check && { check }),
    handles: [...new Set([...handles, ...followedEvents(follows)])],

    create(dependencies, environment) {
      const { role = 'all' } = dependencies;
      const { config, addresses } = readServiceConfig(definition, environment, role);
      const service = openService(name, dependencies, openDatabase);
      const { database, outbox, clock, logger } = service;
      const clients = clientsOf(name, calls, addresses, dependencies.internal.sign);
      const { verifier, problemBase } = dependencies;
      const contents = source.open({
        ...{ database, outbox, clock, logger, config, role, verifier, problemBase },
        clients: clients as Readonly<Record<keyof C & ServiceName, Client>>,
        wake: service.wake,
      });
      requireHandlers(name, handles, contents.handlers ?? []);
      return service.assemble({
        ...contents,
        publishes,
        handlers: [...Object.values(follows).flatMap(({ handlers }) => handlers), ...(contents.handlers ?? [])],
        jobs: [
          ...followJobs(follows, { database, clients, logger }),
          ...(contents.jobs ?? []),
          ...purgeJobs(purges({ database, outbox, clock }), source.purgeEvery),
        ],
      });
    },

    openOperations({ url, clock, environment }) {
      const database = openDatabase({ url, poolSize: 2, statementTimeout: commandStatementTimeout });
      const outbox = createOutbox(() => {}); // A relay looks at the outbox by itself.
      const config = () => readOwnConfig(definition, environment);
      return {
        purges: purges({ database, outbox, clock }),
        projections: Object.fromEntries(Object.entries(follows).map(([snapshot, { tables }]) => [snapshot, tables])),
        ...source.operations?.({ database, clock, config }),
        close: () => database.close(),
      };
    },
  };
  return definition;
}

/** A snapshot is asked for by a job, so a worker has to be allowed to ask. */
function requireCalls(name: ServiceName, calls: Calls, follows: Readonly<Record<string, Follow>>): void {
  for (const [snapshot, { from }] of Object.entries(follows))
    if (!calls[from]?.includes('worker'))
      throw new Error(`${name} follows ${snapshot} of ${from}: its worker has to be among its calls`);
}

function requireHandlers<Tx>(name: ServiceName, handles: readonly EventType[], given: readonly EventHandler<Tx>[]) {
  const names = (events: readonly EventType[]) => [...new Set(events.map(({ type }) => type))].toSorted().join(', ');
  const [declared, made] = [names(handles), names(given.map(({ event }) => event))];
  if (declared !== made)
    throw new Error(
      `${name} declares that it handles ${declared || 'nothing'}, but has handlers of ${made || 'nothing'}`,
    );
}
