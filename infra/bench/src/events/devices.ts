import { X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deviceUpstreamsAt } from '@attribution/gateway';
import { newId } from '@attribution/ids';
import { createTestAuthority } from '@attribution/testing';
import { ingressKeys } from '../endpoints/settings.ts';
import { type BenchServer, startServer } from '../server.ts';
import { openSender, type Place, type Send } from './sender.ts';

/** A device with a certificate, and a connection that it keeps. */
export interface BenchDevice {
  readonly id: string;
  /** From where it sends: for those who send in its name elsewhere. */
  readonly place: Place;
  readonly send: Send;
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
  const senders: { close(): void }[] = [];
  const devices = Array.from({ length: count }, (): BenchDevice => {
    const id = newId('device');
    const identity = authority.issue({ deviceId: id });
    const fingerprint = new X509Certificate(identity.cert).fingerprint256.replaceAll(':', '').toLowerCase();
    lookUp.devices.set(fingerprint, id);
    const place = { url: ingress.url, ca: authority.root, ...identity };
    const sender = openSender(place);
    senders.push(sender);
    return { id, place, send: sender.send };
  });
  return {
    devices,
    async stop() {
      for (const sender of senders) sender.close();
      await ingress.stop();
      lookUp.server.closeAllConnections();
      lookUp.server.close();
    },
  };
}
