import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVerifier } from '@attribution/auth';
import { newAuthority } from '@attribution/certificates';
import {
  AuditEntry,
  auditEvents,
  type Client,
  createClient,
  type Envelope,
  type EventData,
  type EventType,
  type ServiceName,
} from '@attribution/contracts';
import { listen } from '@attribution/http';
import { createInProcessTransport, type Message, newEvent, type Transport } from '@attribution/messaging';
import { addressSetting, type RunningRole } from '@attribution/runtime';
import type { Environment, ServiceDefinition } from '@attribution/service';
import pg from 'pg';
import { createTestClock, type TestClock } from './clock.ts';
import { createTestDatabase } from './database.ts';
import { eventually } from './eventually.ts';
import { type CapturedLogs, captureLogs } from './logs.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { createStatementRecorder, type StatementRecorder } from './statements.ts';
import { testInternal, testKeys } from './tokens.ts';

export interface TestService {
  readonly url: string;
  /** A client without a token; `client.with({ token })` has one. It checks every response against its contract. */
  readonly client: Client;
  /** A pool for the service's database, to inspect it. */
  readonly db: pg.Pool;
  readonly clock: TestClock;
  readonly logs: CapturedLogs;
  readonly mailbox: Mailbox;
  /** The folder of media files. */
  readonly mediaDirectory: string;
  /** Every event that the service has published, oldest first, apart from audit records. */
  readonly published: readonly Envelope[];
  /** The audit records that it has published, in no order. */
  readonly audited: readonly AuditEntry[];
  /** Delivers an event to the service, like its transport. Resolves when the effect is committed. */
  deliver<T extends EventType>(type: T, data: EventData<T>, accountId: string): Promise<Envelope>;
  redeliver(envelope: Envelope, topic: string): Promise<void>;
  readonly statementsOf: StatementRecorder['statementsOf'];
  readonly cutAt: StatementRecorder['cutAt'];
  stop(): Promise<void>;
}

export const problemBase = 'https://problems.test';

/** Made when a service needs it, because that takes some tenths of a second. */
let deviceAuthority: string | undefined;
const authorityOf = (name: ServiceName): Environment =>
  name === 'device' ? { DEVICE_CA: (deviceAuthority ??= JSON.stringify(newAuthority().authority)) } : {};

/**
 * What every service can be created with: worthless secrets, folders that do not exist, and for the services that it calls
 * addresses where nothing listens. A test that needs one of them gives its own.
 */
export const worthlessSettings = ({ name, calls }: Pick<ServiceDefinition, 'name' | 'calls'>): Environment => ({
  PASSWORD_PEPPER: 'a pepper for tests, of no worth at all',
  SECRET_KEYS: Buffer.alloc(32, 7).toString('base64'),
  MEDIA_URL_SECRET: 'a secret for tests, of no worth at all',
  TOKEN_PRIVATE_KEYS: JSON.stringify(testKeys.private),
  TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public),
  MAIL_DIR: '/nonexistent',
  MEDIA_DIR: '/nonexistent',
  ...authorityOf(name),
  ...Object.fromEntries(
    Object.keys(calls).map((callee) => [addressSetting(callee as ServiceName), 'http://127.0.0.1:1']),
  ),
});

/**
 * Milliseconds for a statement and for a connection, of which many that race may need more than in production on a busy
 * machine. That each wait ends is what the tests of `@attribution/database` are about.
 */
export const patientLimits = { statementTimeout: 60_000, connectionTimeout: 60_000 };
/** Hashes of passwords are fast. */
const fast: Environment = { BCRYPT_COST: '4' };

/** Starts one service on its own database, reachable by HTTP: both of its roles, if none is given. */
export async function startTestService(
  definition: ServiceDefinition,
  options: { environment?: Environment; role?: RunningRole } = {},
): Promise<TestService> {
  const { name, create } = definition;
  const database = await createTestDatabase(name);
  const mailDirectory = await mkdtemp(join(tmpdir(), 'test-mail-'));
  const mediaDirectory = await mkdtemp(join(tmpdir(), 'test-media-'));
  const clock = createTestClock();
  const logs = captureLogs(name);
  const published: Envelope[] = [];
  const audited: AuditEntry[] = [];
  const transport = recordingTransport(name, published, audited);
  const service = create(
    {
      databaseUrl: database.url,
      poolSize: 12,
      ...patientLimits,
      ...(options.role && { role: options.role }),
      transport,
      verifier: createVerifier(testKeys.public, () => clock.now().getTime()),
      internal: testInternal(name),
      logger: logs.logger,
      problemBase,
      checkAnswers: true,
      clock,
    },
    {
      ...worthlessSettings(definition),
      ...fast,
      MAIL_DIR: mailDirectory,
      MEDIA_DIR: mediaDirectory,
      ...options.environment,
    },
  );
  await transport.start();
  service.start();
  const recorder = createStatementRecorder();
  const server = await listen(recorder.recorded(service.app), { host: '127.0.0.1', port: 0, problemBase });
  const url = `http://127.0.0.1:${server.port}`;
  // On a busy machine the first connection to a new database may take longer than a request's timeout for it.
  await eventually(async () => {
    if (!(await fetch(`${url}/readyz`)).ok) throw new Error(`${name} is not ready`);
  });
  const db = new pg.Pool({ connectionString: database.url, max: 4 });
  db.on('error', () => {}); // The database is dropped while connections are idle.

  async function redeliver(envelope: Envelope, topic: string): Promise<void> {
    const { failed } = await transport.deliver([{ topic, envelope }]);
    if (failed[0]) throw failed[0].error;
  }

  return {
    url,
    client: createClient({ baseUrl: url }),
    db,
    clock,
    logs,
    mailbox: openMailbox(mailDirectory),
    mediaDirectory,
    published,
    audited,
    redeliver,
    statementsOf: recorder.statementsOf,
    cutAt: recorder.cutAt,
    async deliver(type, data, accountId) {
      const { message } = newEvent(type, data, { accountId, occurredAt: clock.now() });
      await redeliver(message.envelope, message.topic);
      return message.envelope;
    },
    async stop() {
      await server.close(Date.now() + 2_000, 0); // The test has no further request.
      await service.drain(Date.now() + 2_000);
      await service.close();
      await db.end();
      await database.drop();
      for (const directory of [mailDirectory, mediaDirectory]) await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The in-process transport, for which the test makes the deliveries, and which collects published events. */
function recordingTransport(
  name: ServiceName,
  published: Envelope[],
  audited: AuditEntry[],
): Transport & { deliver: Transport['publish'] } {
  const transport = createInProcessTransport();
  return {
    ...transport,
    deliver: transport.publish,
    async publish(messages: readonly Message[]) {
      for (const { topic, envelope } of messages)
        if (topic === auditEvents[name]?.topic.name) audited.push(AuditEntry.parse(envelope.data));
        else published.push(envelope);
      return { acknowledged: messages.map((message) => message.envelope.event_id), failed: [] };
    },
  };
}
