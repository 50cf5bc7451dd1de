import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVerifier } from '@attribution/auth';
import {
  type Client,
  createClient,
  type Envelope,
  type EventData,
  type EventType,
  type ServiceName,
} from '@attribution/contracts';
import { listen } from '@attribution/http';
import { createInProcessTransport, type Message, newEvent, type Transport } from '@attribution/messaging';
import { addressSetting } from '@attribution/runtime';
import type { Calls, Environment, ServiceDefinition } from '@attribution/service';
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
  /** Every event that the service has published, oldest first. */
  readonly published: readonly Envelope[];
  /** Delivers an event to the service, like its transport. Resolves when the effect is committed. */
  deliver<T extends EventType>(type: T, data: EventData<T>, accountId: string): Promise<Envelope>;
  redeliver(envelope: Envelope, topic: string): Promise<void>;
  readonly statementsOf: StatementRecorder['statementsOf'];
  stop(): Promise<void>;
}

export const problemBase = 'https://problems.test';

/** Configuration for tests, with fast hashes and worthless secrets. */
const testEnvironment: Environment = {
  BCRYPT_COST: '4',
  PASSWORD_PEPPER: 'a pepper for tests, of no worth at all',
  SECRET_KEYS: Buffer.alloc(32, 7).toString('base64'),
  TOKEN_PRIVATE_KEYS: JSON.stringify(testKeys.private),
  TOKEN_PUBLIC_KEYS: JSON.stringify(testKeys.public),
};

/** An address where nothing listens. A test whose service calls another one gives that one's address. */
const unreachableAddresses = (calls: Calls): Environment =>
  Object.fromEntries(Object.keys(calls).map((name) => [addressSetting(name as ServiceName), 'http://127.0.0.1:1']));

/** Starts one service on its own database, reachable by HTTP. */
export async function startTestService(
  { name, calls, create }: ServiceDefinition,
  options: { environment?: Environment } = {},
): Promise<TestService> {
  const database = await createTestDatabase(name);
  const mailDirectory = await mkdtemp(join(tmpdir(), 'test-mail-'));
  const clock = createTestClock();
  const logs = captureLogs(name);
  const published: Envelope[] = [];
  const transport = recordingTransport(published);
  const service = create(
    {
      databaseUrl: database.url,
      poolSize: 12,
      transport,
      verifier: createVerifier(testKeys.public, () => clock.now().getTime()),
      internal: testInternal(name),
      logger: logs.logger,
      problemBase,
      checkAnswers: true,
      clock,
    },
    { ...testEnvironment, ...unreachableAddresses(calls), MAIL_DIR: mailDirectory, ...options.environment },
  );
  await transport.start();
  service.start();
  const recorder = createStatementRecorder();
  const server = await listen(recorder.recorded(service.app), { host: '127.0.0.1', port: 0, problemBase });
  const url = `http://127.0.0.1:${server.port}`;
  // On a busy machine the first connection to a new database may take longer than a request's timeout for it.
  await eventually(async () => {
    if (!(await fetch(`${url}/readyz`)).ok) throw new Error(`${name} is not ready`);
  }, 30_000);
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
    published,
    redeliver,
    statementsOf: recorder.statementsOf,
    async deliver(type, data, accountId) {
      const { message } = newEvent(type, data, { accountId, occurredAt: clock.now() });
      await redeliver(message.envelope, message.topic);
      return message.envelope;
    },
    async stop() {
      await server.close(Date.now() + 2_000);
      await service.drain(Date.now() + 2_000);
      await service.close();
      await db.end();
      await database.drop();
      await rm(mailDirectory, { recursive: true, force: true });
    },
  };
}

/** The in-process transport, for which the test makes the deliveries, and which collects published events. */
function recordingTransport(published: Envelope[]): Transport & { deliver: Transport['publish'] } {
  const transport = createInProcessTransport();
  return {
    ...transport,
    deliver: transport.publish,
    async publish(messages: readonly Message[]) {
      published.push(...messages.map((message) => message.envelope));
      return { acknowledged: messages.map((message) => message.envelope.event_id), failed: [] };
    },
  };
}
