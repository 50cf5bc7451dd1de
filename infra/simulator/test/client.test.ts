import { createHash, generateKeyPairSync, verify, X509Certificate } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import {
  issueDeviceCertificate,
  issueServerCertificate,
  newAuthority,
  readCsr,
  signingOf,
} from '@attribution/certificates';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  createBackoff,
  type DeviceEvent,
  makeCsr,
  newFactoryKey,
  openFileStore,
  readKey,
  runDevice,
  volatileFlash,
} from '../src/index.ts';

const { authority } = newAuthority();
const signing = signingOf(authority);
const server = issueServerCertificate(signing, ['127.0.0.1']);
const factory = newFactoryKey();
const soon = (ms: number) => new Date(Date.now() + ms).toISOString();
const certificateOf = (pem: string) => new X509Certificate(pem).fingerprint256;

/** Requests as `METHOD path`, with the fingerprint of the certificate that was shown. */
let seen: { what: string; shown: string | undefined }[] = [];
let answers: Record<string, (body: string, signature: string) => { status: number; body?: unknown }> = {};
/** The newest certificate. */
let issued = '';

/** An ingress that says what a test wants. */
const ingress = createServer(
  {
    cert: server.certificate + authority.certificate,
    key: server.private_key,
    ca: authority.root,
    requestCert: true,
    rejectUnauthorized: false,
  },
  async (req, res) => {
    let body = '';
    for await (const chunk of req) body += String(chunk);
    const what = `${req.method} ${req.url?.split('?')[0]}`;
    seen.push({ what, shown: (req.socket as TLSSocket).getPeerX509Certificate()?.fingerprint256 });
    const answer = answers[what]?.(body, String(req.headers['x-device-signature'])) ?? { status: 404, body: {} };
    res.writeHead(answer.status, { 'content-type': 'application/json' });
    res.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
  },
);
beforeAll(async () => {
  ingress.listen(0, '127.0.0.1');
  await new Promise((resolve) => ingress.once('listening', resolve));
});
afterAll(() => {
  ingress.closeAllConnections();
  ingress.close();
});
beforeEach(() => {
  seen = [];
  answers = {};
});

function certificateAnswer(body: string) {
  const { csr } = JSON.parse(body) as { csr: string };
  const { certificate, notAfter } = issueDeviceCertificate(signing, 'dev_1', readCsr(csr), new Date());
  issued = certificateOf(certificate);
  return {
    status: 200,
    body: {
      device_id: 'dev_1',
      certificate,
      chain: [authority.certificate, authority.root],
      not_after: notAfter.toISOString(),
      renew_after: soon(86_400_000),
      server_time: soon(0),
    },
  };
}

const challenge = () => ({ status: 200, body: { nonce: 'n', expires_at: soon(300_000), server_time: soon(0) } });

/** Runs a device until it has told as much as the test waits for. */
async function runUntil(
  done: (told: readonly DeviceEvent[]) => boolean,
  manifestEveryMs?: number,
): Promise<DeviceEvent[]> {
  const told: DeviceEvent[] = [];
  const stop = new AbortController();
  const flash = volatileFlash({ serial: 'SIM-1', factoryKey: factory.privateKey, publicKey: factory.publicKey });
  const { port } = ingress.address() as AddressInfo;
  await runDevice(
    {
      ...{ url: `https://127.0.0.1:${port}`, ca: authority.root, flash },
      files: { has: () => true, fetch: async () => {} },
      tell(event) {
        told.push(event);
        if (done(told)) stop.abort();
      },
      ...(manifestEveryMs && { manifestEveryMs }),
      random: () => 0,
      backoff: { firstMs: 1, longestMs: 5 },
    },
    stop.signal,
  );
  return told;
}

test.each([
  ['P-256', generateKeyPairSync('ec', { namedCurve: 'prime256v1' })],
  ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 })],
])('a signing request of a %s key is read by the authority, with that key', (_what, { privateKey, publicKey }) => {
  expect(readCsr(makeCsr(privateKey, 'SIM-1')).export({ type: 'spki', format: 'pem' })).toBe(
    publicKey.export({ type: 'spki', format: 'pem' }),
  );
});

test('a device goes from challenge by code to certificate, heartbeat, configuration and manifest', async () => {
  let asked = 0;
  let reported: unknown;
  answers = {
    'POST /v2/device/challenges': challenge,
    'POST /v2/device/bootstrap': (body, signature) => {
      const isSigned = verify('sha256', Buffer.from(body), factory.publicKey, Buffer.from(signature, 'base64'));
      if (!isSigned) return { status: 401, body: {} };
      const code = { status: 'unclaimed', claim_code: 'ABCD-EFGH', retry_after: 0, server_time: soon(0) };
      return asked++ === 0 ? { status: 202, body: code } : certificateAnswer(body);
    },
    'POST /v2/device/heartbeat': () => ({
      status: 200,
      body: {
        ...{ server_time: soon(0), status: 'active', desired_version: 1, manifest_version: 7 },
        ...{ renew_after: soon(86_400_000), heartbeat_interval_seconds: 60 },
      },
    }),
    'POST /v2/device/inventory': () => ({ status: 204 }),
    'GET /v2/device/config': () => ({
      status: 200,
      body: { desired: { volume: 1 }, desired_version: 1, reported_version: 0, applied_version: 0 },
    }),
    'PUT /v2/device/config/reported': (body) => {
      reported = JSON.parse(body);
      return { status: 200, body: {} };
    },
    'GET /v2/device/manifest': () => ({
      status: 200,
      body: { schema_version: 1, device_id: 'dev_1', version: 7, files: [], items: [], screens: [] },
    }),
  };
  const told = await runUntil((all) => all.some(({ event }) => event === 'manifest'));
  expect(told.map(({ event }) => event)).toEqual(['code', 'certificate', 'manifest']);
  expect(reported).toEqual({ reported: { volume: 1 }, reported_version: 0, applied_version: 1 });
  const shownBy = (part: string) => new Set(seen.filter(({ what }) => what.includes(part)).map(({ shown }) => shown));
  expect(shownBy('bootstrap')).toEqual(new Set([undefined]));
  expect(shownBy('heartbeat')).toEqual(new Set([issued]));
});

test('a device renews its certificate when it is time, and uses the new one from the next request on', async () => {
  let beats = 0;
  answers = {
    'POST /v2/device/challenges': challenge,
    'POST /v2/device/bootstrap': certificateAnswer,
    'POST /v2/device/certificate/renew': certificateAnswer,
    'POST /v2/device/inventory': () => ({ status: 204 }),
    'POST /v2/device/heartbeat': () => ({
      status: 200,
      body: {
        ...{ server_time: soon(0), status: 'active', desired_version: 0, manifest_version: null },
        ...{ renew_after: soon(beats++ === 0 ? -1_000 : 86_400_000), heartbeat_interval_seconds: 0.05 },
      },
    }),
    'GET /v2/device/manifest': () => ({ status: 204 }),
  };
  const told = await runUntil(() => beats > 1 || seen.filter(({ what }) => what.includes('renew')).length > 0);
  expect(told.map(({ event }) => event)).toEqual(['certificate', 'certificate']);
  const renewals = seen.filter(({ what }) => what.includes('renew'));
  expect(renewals).toHaveLength(1);
  expect(renewals[0]?.shown).not.toBe(issued);
});

test('401 makes a device bootstrap again; 503 and a broken connection make it wait and try again', async () => {
  let bootstraps = 0;
  const heartbeats = [401, 503, 200];
  answers = {
    'POST /v2/device/challenges': challenge,
    'POST /v2/device/bootstrap': (body) => {
      bootstraps++;
      return certificateAnswer(body);
    },
    'POST /v2/device/inventory': () => ({ status: 204 }),
    'POST /v2/device/heartbeat': () => ({
      status: heartbeats.shift() ?? 200,
      body: {
        ...{ server_time: soon(0), status: 'active', desired_version: 0, manifest_version: 1 },
        ...{ renew_after: soon(86_400_000), heartbeat_interval_seconds: 60 },
      },
    }),
    'GET /v2/device/manifest': () => ({ status: 200, body: { version: 1, files: [], items: [], screens: [] } }),
  };
  const told = await runUntil((all) => all.some(({ event }) => event === 'manifest'));
  expect(told.map(({ event }) => event)).toEqual(['certificate', 'trouble', 'certificate', 'trouble', 'manifest']);
  expect(bootstraps).toBe(2);
});

test('pauses grow and are random, and never undercut what the server asks for', () => {
  const pauses = (random: number) => {
    const backoff = createBackoff({ firstMs: 1_000, longestMs: 60_000, random: () => random });
    return [...Array.from({ length: 8 }, () => backoff.next()), backoff.next(30_000)];
  };
  expect(pauses(0.999_999)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 90_000]);
  expect(pauses(0)).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 30_000]);
});

test('a file counts as there when its hash is right, and not before', async () => {
  const bytes = Buffer.from('moving pictures');
  const files = createPlainServer((_req, res) => void res.end(bytes)).listen(0, '127.0.0.1');
  await new Promise((resolve) => files.once('listening', resolve));
  const directory = await mkdtemp(join(tmpdir(), 'files-'));
  const store = await openFileStore(directory);
  const url = `http://127.0.0.1:${(files.address() as AddressInfo).port}/x`;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const about = { size_bytes: bytes.length, url, url_expires_at: soon(1_000) };
  await expect(store.fetch({ ...about, sha256: '0'.repeat(64) })).rejects.toThrow(/another hash/);
  await expect(store.fetch({ ...about, sha256, size_bytes: 3 })).rejects.toThrow(/larger/);
  expect(store.has(sha256)).toBe(false);
  await Promise.all([store.fetch({ ...about, sha256 }), store.fetch({ ...about, sha256 })]);
  expect(store.has(sha256)).toBe(true);
  await rm(directory, { recursive: true });
  files.close();
});

test('the key of the factory is read back as it was made', () => {
  expect(readKey(factory.privateKey).asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
});
