import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import { Agent, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { deviceUpstreamsAt } from '@attribution/gateway';
import { newId } from '@attribution/ids';
import { createTestAuthority } from '@attribution/testing';
import { ingressKeys } from '../endpoints/settings.ts';
import { type BenchServer, startServer } from '../server.ts';

/** A device with a certificate, and a connection that it keeps. */
export interface BenchDevice {
  readonly id: string;
  /** Sends a batch. Resolves to the milliseconds until the answer; rejects unless all items were accepted. */
  send(path: string, batch: Batch): Promise<number>;
}

export interface Batch {
  readonly items: number;
  readonly body: Buffer;
}

/** The Device service, as far as the ingress asks it: whose certificate is it? */
async function startLookUp(account: string) {
  const devices = new Map<string, string>();
  const server = createServer((req, res) => {
    const state = {
      ...{ device_id: devices.get(req.url?.split('/').at(-1) ?? ''), account_id: account, device_status: 'active' },
      ...{ certificate_status: 'live', not_after: '2099-01-01T00:00:00.000Z' },
    };
    res.setHeader('content-type', 'application/json').end(JSON.stringify(state));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { devices, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Starts an ingress before Events, and devices of an account with certificates of their own. */
export async function startDevices(events: BenchServer, { account, count }: { account: string; count: number }) {
  const authority = createTestAuthority();
  const { cert, key } = authority.issueServer();
  const lookUp = await startLookUp(account);
  const ingress = await startServer(new URL('./ingress.server.ts', import.meta.url), {
    ...deviceUpstreamsAt((service) => (service === 'events' ? events.url : lookUp.url)),
    DEVICE_TLS_CERTIFICATE: cert,
    DEVICE_TLS_KEY: key,
    DEVICE_CA_CERTIFICATES: authority.root,
    INTERNAL_PRIVATE_KEYS: ingressKeys,
    PROBLEM_BASE: 'https://problems.attribution.example',
  });
  const agents: Agent[] = [];
  const devices = Array.from({ length: count }, (): BenchDevice => {
    const id = newId('device');
    const identity = authority.issue({ deviceId: id });
    const fingerprint = new X509Certificate(identity.cert).fingerprint256.replaceAll(':', '').toLowerCase();
    lookUp.devices.set(fingerprint, id);
    const agent = new Agent({ keepAlive: true, ca: authority.root, ...identity });
    agents.push(agent);
    return { id, send: (path, batch) => send(new URL(path, ingress.url), agent, batch) };
  });
  return {
    devices,
    async stop() {
      for (const agent of agents) agent.destroy();
      await ingress.stop();
      lookUp.server.closeAllConnections();
      lookUp.server.close();
    },
  };
}

async function send(url: URL, agent: Agent, { items, body }: Batch): Promise<number> {
  const began = performance.now();
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const answer = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (res) =>
      text(res).then((said) => resolve({ status: res.statusCode, text: said }), reject),
    );
    sent.on('error', reject).end(body);
  });
  const ms = performance.now() - began;
  if (answer.status !== 202 || JSON.parse(answer.text).accepted !== items)
    throw new Error(`${answer.status} ${answer.text.slice(0, 500)}`);
  return ms;
}
