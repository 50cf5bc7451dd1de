import { createHash, randomUUID, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { bootstrapDevice, challengeDevice, type Endpoint, endpoint } from '@attribution/contracts';
import { listen } from '@attribution/http';
import {
  type Certified,
  captureLogs,
  createTestAuthority,
  problemBase,
  resumingClient,
  testInternalKeys,
} from '@attribution/testing';
import { createIngress, deviceUpstreamsAt, readIngressSettings } from '../src/index.ts';
import { type Reply, type Respond, startUpstream, type Upstream } from './support.ts';

export const authority = createTestAuthority();
const server = authority.issueServer();

/** What the Device service says about a certificate. */
export interface Known {
  device_id: string;
  account_id: string;
  device_status: string;
  certificate_status: string;
  not_after: string;
}

const ok = { status: 200, description: 'As it is' } as const;
const access = { credential: 'device' } as const;
const about = { summary: 'A test', access, success: ok } as const;

/** An endpoint of the Device service, and one of another service. */
export const ofDevice = '/v2/device/heartbeat';
export const ofOthers = '/v2/device/plays';
const testEndpoints: readonly Endpoint[] = [
  challengeDevice,
  bootstrapDevice,
  endpoint({ ...about, operation: 'test_heartbeat', method: 'POST', path: ofDevice, service: 'device' }),
  endpoint({ ...about, operation: 'test_plays', method: 'POST', path: ofOthers, service: 'events' }),
];

const lookUp = '/internal/v2/device-certificates/';

export interface DeviceService extends Upstream {
  /** By fingerprint; others are unknown. */
  readonly certificates: Map<string, Known>;
  /** How often it was asked about certificates. */
  asked(): number;
}

/** A Device service that says what a test has put into `certificates`, and answers everything else with `respond`. */
export async function startDeviceService(respond?: Respond): Promise<DeviceService> {
  const certificates = new Map<string, Known>();
  const problem = (status: number, kind: string) =>
    JSON.stringify({ type: `${problemBase}/${kind}`, title: 'x', status, detail: 'x' });
  const upstream = await startUpstream((res, seen) => {
    if (!seen.url.startsWith(lookUp)) {
      if (respond) return respond(res, seen);
      return void res.setHeader('content-type', 'application/json').end('{"ok":true}');
    }
    const known = certificates.get(seen.url.slice(lookUp.length));
    res.statusCode = known ? 200 : 404;
    res.setHeader('content-type', known ? 'application/json' : 'application/problem+json');
    res.end(known ? JSON.stringify(known) : problem(404, 'not-found'));
  });
  return {
    ...upstream,
    certificates,
    asked: () => upstream.started.filter(({ url }) => url?.startsWith(lookUp)).length,
  };
}

const newUuid7 = () => `01968f3e-7a4b-7${randomUUID().slice(15)}`;

const fingerprintOf = ({ cert }: Certified) => createHash('sha256').update(new X509Certificate(cert).raw).digest('hex');

/** A device with a certificate that the Device service knows. */
export function newDevice(device: DeviceService | undefined, identity: Certified = authority.issue()) {
  const known: Known = {
    device_id: `dev_${newUuid7()}`,
    account_id: `acc_${newUuid7()}`,
    device_status: 'active',
    certificate_status: 'live',
    not_after: '2099-01-01T00:00:00.000Z',
  };
  device?.certificates.set(fingerprintOf(identity), known);
  return { identity, known };
}

export interface Sending {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly identity?: Certified | undefined;
  /** Keeps the connection. Default: each request has one of its own. */
  readonly agent?: Agent;
  /** The client's address: any of 127.0.0.0/8. */
  readonly ip?: string;
}

export interface IngressOptions {
  readonly environment?: Record<string, string>;
  readonly endpoints?: readonly Endpoint[];
  readonly now?: () => number;
  /** Other services than Device. */
  readonly others?: string;
  readonly handshakeTimeoutMs?: number;
}

export async function startIngress(device: { readonly url: string }, options: IngressOptions = {}) {
  const logs = captureLogs('ingress');
  const settings = readIngressSettings({
    ...deviceUpstreamsAt(() => device.url),
    DEVICE_TLS_CERTIFICATE: server.cert,
    DEVICE_TLS_KEY: server.key,
    DEVICE_CA_CERTIFICATES: authority.root,
    INTERNAL_PRIVATE_KEYS: JSON.stringify(testInternalKeys.private.ingress),
    PROBLEM_BASE: problemBase,
    ...options.environment,
  });
  const upstreams = { ...settings.upstreams, ...(options.others && { events: options.others }) };
  const { endpoints = testEndpoints, now, handshakeTimeoutMs } = options;
  const ingress = createIngress({ ...settings, upstreams }, logs.logger, {
    endpoints,
    ...(now && { now }),
  });
  const { tls } = ingress.listening;
  const running = await listen(ingress.handle, {
    ...ingress.listening,
    ...(tls && { tls: { ...tls, ...(handshakeTimeoutMs !== undefined && { handshakeTimeoutMs }) } }),
    ...{ host: '0.0.0.0', port: 0 },
  });
  const { port } = running;
  return {
    port,
    logs,
    send: (path: string, sending: Sending = {}) => send(port, path, sending),
    async count(metric: string, labels: Record<string, string> = {}) {
      const found = await ingress.registry.getSingleMetric(metric)?.get();
      const matching = (found?.values ?? []).filter((one) =>
        Object.entries(labels).every(([name, value]) => one.labels[name] === value),
      );
      return matching.reduce((sum, { value }) => sum + value, 0);
    },
    async stop() {
      await running.close(0);
      await ingress.close();
    },
  };
}
export type TestIngress = Awaited<ReturnType<typeof startIngress>>;

async function send(port: number, path: string, sending: Sending): Promise<Reply> {
  const { method = 'GET', headers, body, identity, agent = false, ip } = sending;
  const req = request({
    ...{ host: '127.0.0.1', port, path, method, agent, ca: authority.root },
    ...identity,
    ...(ip && { localAddress: ip }),
    ...(headers && { headers }),
  });
  req.end(body);
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of res) chunks.push(chunk as Buffer);
  return { status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks) };
}

/** A client that keeps its connection, and shows one certificate on it. */
export const keptBy = (identity: Certified | undefined) =>
  new Agent({ keepAlive: true, maxSockets: 1, ca: authority.root, ...identity });

export const resuming = (port: number, identity: Certified | undefined, version: 'TLSv1.2' | 'TLSv1.3') =>
  resumingClient({ port, ca: authority.root }, identity, version);
