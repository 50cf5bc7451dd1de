import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Client,
  createCampaign,
  createClient,
  createGroup,
  getCampaign,
  listGroups,
  listPlans,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import { newSecrets } from '@attribution/local';
import { createTestDatabase, eventually, openMailbox, type TestDatabase, testParts } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { fromSomewhere, newEmail, password } from './support.ts';

const root = join(import.meta.dirname, '../../..');
const brokers = testParts.kafkaBrokers();
const redis = testParts.redisUrl();
const fleet = brokers && redis ? describe : describe.skip;

interface Process {
  readonly child: ChildProcess;
  readonly url: string;
  output: string;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

async function start(program: string, environment: Record<string, string>): Promise<Process> {
  const port = await freePort();
  const child = spawn(process.execPath, ['--disable-warning=TimeoutNegativeWarning', join(root, program)], {
    env: { PATH: process.env.PATH, NODE_ENV: 'test', PORT: String(port), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started: Process = { child, url: `http://127.0.0.1:${port}`, output: '' };
  const keep = (chunk: Buffer) => {
    started.output += String(chunk);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  return started;
}

/** SIGTERM; resolves with the exit code. */
async function stop({ child }: Process): Promise<number | null> {
  if (child.exitCode !== null) return child.exitCode;
  child.kill('SIGTERM');
  return new Promise((resolve) => child.once('exit', resolve));
}

fleet('a fleet: one process a service, two of account and two gateways, over Kafka and Redis', () => {
  const databases: TestDatabase[] = [];
  const processes: Process[] = [];
  const secrets = newSecrets();
  let gateways: Process[];
  let accounts: Process[];
  let mailDirectory: string;

  beforeAll(async () => {
    mailDirectory = await mkdtemp(join(tmpdir(), 'fleet-mail-'));
    const shared = {
      TOKEN_PUBLIC_KEYS: JSON.stringify(secrets.token_keys.public),
      KAFKA_BROKERS: brokers?.join(',') ?? '',
      KAFKA_TOPIC_PREFIX: `fleet-${randomBytes(4).toString('hex')}.`,
    };
    const account = {
      TOKEN_PRIVATE_KEYS: JSON.stringify(secrets.token_keys.private),
      PASSWORD_PEPPER: secrets.password_pepper,
      SECRET_KEYS: secrets.secret_key,
      BCRYPT_COST: '4',
      MAIL_DIR: mailDirectory,
    };
    async function service(name: string, replicas: number, environment = {}) {
      const database = await createTestDatabase(name);
      databases.push(database);
      const settings = { ...shared, ...environment, DATABASE_URL: database.url };
      const started = await Promise.all(
        Array.from({ length: replicas }, () => start(`services/${name}/src/main.ts`, settings)),
      );
      processes.push(...started);
      return started;
    }
    accounts = await service('account', 2, account);
    const [organization] = await service('organization', 1);
    const [campaign] = await service('campaign', 1);
    const [billing] = await service('billing', 1);
    const edge = (of: Process | undefined) => ({
      ...shared,
      REDIS_URL: redis ?? '',
      ACCOUNT_URL: of?.url ?? '',
      ORGANIZATION_URL: organization?.url ?? '',
      CAMPAIGN_URL: campaign?.url ?? '',
      BILLING_URL: billing?.url ?? '',
    });
    gateways = await Promise.all(accounts.map((one) => start('gateway/src/main.ts', edge(one))));
    processes.push(...gateways);
    for (const gateway of gateways) {
      await eventually(async () => {
        const health = await fetch(`${gateway.url}/healthz`);
        if (!health.ok) throw new Error(`${await health.text()}\n${processes.map((one) => one.output).join('\n')}`);
      }, 60_000);
    }
  }, 120_000);

  afterAll(async () => {
    await Promise.all(processes.map(stop));
    await Promise.all(databases.map((database) => database.drop()));
    await rm(mailDirectory, { recursive: true, force: true });
  }, 60_000);

  const api = (index: number) => createClient({ baseUrl: gateways[index]?.url ?? '', headers: fromSomewhere() });

  async function newOwner(): Promise<Client> {
    const email = newEmail();
    await api(0)
      .call(signup, { body: { email, password, full_name: 'Ada' } })
      .then((answer) => answer.body);
    const code = await openMailbox(mailDirectory).codeFor(email);
    const session = (await api(1).call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
    return api(1).with({ token: session.access_token });
  }

  test('a sign-up at one gateway is a session at the other, and its events reach every service', async () => {
    const owner = await newOwner();
    await eventually(async () => expect((await owner.call(listGroups)).body.entries).toHaveLength(1), 25_000);
    const group = (await owner.call(createGroup, { body: { name: 'North' } })).body;
    const campaign = await eventually(async () => {
      const answer = await owner.call(createCampaign, { body: { name: 'Boots', group_id: group.id } });
      return answer.body;
    }, 25_000);
    expect((await owner.call(getCampaign, { params: { id: campaign.id } })).body.group_id).toBe(group.id);
  }, 60_000);

  test('a service that is gone is a 502, and the gateway says that it is not healthy', async () => {
    const owner = await newOwner();
    const second = accounts[1] as Process;
    expect(await stop(second)).toBe(0);
    const answer = await owner.call(listPlans);
    expect(answer.problem).toMatchObject({ status: 502, kind: 'upstream-error' });
    expect(answer.problem?.detail).not.toMatch(/127|ECONN/);
    await eventually(async () => {
      const health = await fetch(`${gateways[1]?.url}/healthz`);
      expect([health.status, await health.text()]).toEqual([503, expect.stringContaining('account')]);
    });
    expect((await fetch(`${gateways[0]?.url}/healthz`)).status).toBe(200);
  }, 60_000);

  // A process that is not done after ten seconds ends itself with 1.
  test('SIGTERM ends every process in time, with 0', async () => {
    expect(await Promise.all(processes.map(stop))).toEqual(processes.map(() => 0));
  }, 30_000);
});
