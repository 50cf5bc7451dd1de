import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@attribution/ids';
import { createTestAuthority } from '@attribution/testing';
import { startIngress } from '../devices/ingress.ts';
import { fingerprintOf } from '../devices/seed.ts';
import type { BenchServer } from '../server.ts';
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
  const lookUp = await startLookUp(account);
  const ingress = await startIngress(authority, (service) => (service === 'events' ? events.url : lookUp.url));
  const senders: { close(): void }[] = [];
  const devices = Array.from({ length: count }, (): BenchDevice => {
    const id = newId('device');
    const identity = authority.issue({ deviceId: id });
    lookUp.devices.set(fingerprintOf(identity.cert), id);
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
