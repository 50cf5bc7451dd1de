import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign, X509Certificate } from 'node:crypto';
import {
  bootstrapDevice,
  type Client,
  challengeDevice,
  claimDevice,
  type Endpoint,
  type Envelope,
  importDevices,
  installationCreated,
  locationCreated,
  problemKinds,
  problemsOf,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import {
  deviceToken,
  eventually,
  internalToken,
  personToken,
  startTestService,
  type TestService,
} from '@attribution/testing';
import device from '../src/index.ts';
import { keyKinds, makeCsr } from './support-csr.ts';

/** The service, with the addresses of the services that it calls, if the test needs them. */
export const startDevice = (environment: Readonly<Record<string, string>> = {}) =>
  startTestService(device, { environment });

let serials = 0;
export const newSerial = () => `PLAYER-${process.pid}-${++serials}`.toUpperCase();

export const pemOf = (key: KeyObject) => key.export({ type: 'spki', format: 'pem' }).toString();

/** A pair for CSRs, made once, because keys take long. */
const deviceKeys = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
export const csr = makeCsr(deviceKeys);

/** A machine with a key from the factory, before anybody has heard of it. */
export function newMachine(pair = keyKinds['p-256']()) {
  const serial = newSerial();
  const digest = pair.privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  const labelCode = createHash('sha256').update(serial).digest('hex').slice(0, 16).toUpperCase();
  return {
    serial,
    pair,
    labelCode,
    listed: { serial, public_key: pemOf(pair.publicKey), claim_code: labelCode },
    sign: (bytes: string) => sign(digest, Buffer.from(bytes), pair.privateKey).toString('base64'),
  };
}
export type Machine = ReturnType<typeof newMachine>;

export const operator = (service: TestService) => service.client.with({ token: internalToken('device', 'device') });
export const ingress = (service: TestService) => service.client.with({ token: internalToken('ingress', 'device') });

export async function imported(service: TestService, machine = newMachine()): Promise<Machine> {
  const { body } = await operator(service).call(importDevices, { body: { devices: [machine.listed] } });
  if (body.created !== 1) throw new Error(JSON.stringify(body));
  return machine;
}

/** Sends a body as these bytes, with the signature. */
export async function sendSigned(
  service: TestService,
  endpoint: Endpoint,
  text: string,
  signature: string | undefined,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(service.url + endpoint.path, {
    method: endpoint.method,
    headers: {
      'content-type': 'application/json',
      ...(signature !== undefined && { 'x-device-signature': signature }),
      ...headers,
    },
    body: text,
  });
  const answer = await response.text();
  const allowed = [
    endpoint.success.status,
    endpoint.also?.status,
    ...problemsOf(endpoint).map((kind) => problemKinds[kind].status),
  ];
  if (!allowed.includes(response.status as 200)) throw new Error(`${response.status}: ${answer}`);
  return {
    status: response.status,
    headers: response.headers,
    text: answer,
    body: (answer ? JSON.parse(answer) : undefined) as never,
  };
}

export const nowOf = (service: TestService, offsetMs = 0) =>
  new Date(service.clock.now().getTime() + offsetMs).toISOString();

export async function challenge(service: TestService, machine: Machine) {
  const text = JSON.stringify({ serial: machine.serial, timestamp: nowOf(service) });
  const { status, body } = await sendSigned(service, challengeDevice, text, machine.sign(text));
  if (status !== 200) throw new Error(`challenge: ${status} ${JSON.stringify(body)}`);
  return body as { nonce: string; expires_at: string; server_time: string };
}

export async function bootstrap(service: TestService, machine: Machine, more: object = {}) {
  const { nonce } = await challenge(service, machine);
  const text = JSON.stringify({ serial: machine.serial, nonce, timestamp: nowOf(service), csr, ...more });
  return sendSigned(service, bootstrapDevice, text, machine.sign(text));
}

const fingerprintOfPem = (pem: string) => createHash('sha256').update(new X509Certificate(pem).raw).digest('hex');

/** An account with an owner. */
export function newTenant(service: TestService) {
  const account = newId('account');
  const as = (claims = {}) => service.client.with({ token: personToken({ account, ...claims }) });
  const owner = as();
  return {
    account,
    owner,
    as,
    narrowed: (groups: readonly string[]) =>
      as({ role: 'member', group_scope: 'selected', groups: Object.fromEntries(groups.map((id) => [id, 'm'])) }),
    async claimed(machine?: Machine) {
      const made = await imported(service, machine);
      const { body } = await owner.call(claimDevice, { body: { claim_code: made.labelCode } });
      return { machine: made, id: body.id, params: { id: body.id } };
    },
    async active(machine?: Machine) {
      const claimed = await this.claimed(machine);
      const { body } = await bootstrap(service, claimed.machine);
      const { certificate } = body as { certificate: string };
      return { ...claimed, certificate, ...deviceClient(service, claimed.id, account, certificate) };
    },
    /** Installs a device in a location of a group, as Organization tells. */
    async install(deviceId: string, live = true) {
      const at = '2026-11-22T10:00:00.000Z';
      const [group_id, location_id, id] = [newId('group'), newId('location'), newId('installation')];
      const made = { created_at: at, updated_at: at, external_id: null };
      const location = {
        ...{ id: location_id, group_id, name: 'Shop', timezone: 'Europe/Zurich', address: null, latitude: null },
        ...{
          longitude: null,
          venue_type: null,
          venue_taxonomy: null,
          opening_hours: null,
          status: 'active' as const,
          ...made,
        },
      };
      await service.deliver(locationCreated, { account_id: account, aggregate_version: 1, location }, account);
      const installation = {
        ...{
          id,
          location_id,
          device_id: deviceId,
          name: null,
          outputs: [],
          status: live ? ('live' as const) : ('removed' as const),
        },
        ...{ installed_at: at, removed_at: null, ...made },
      };
      await service.deliver(installationCreated, { account_id: account, aggregate_version: 1, installation }, account);
      return { group_id, location_id, installation_id: id };
    },
    /** Waits until the outbox is empty, and returns the events of the account. */
    async events(): Promise<Envelope[]> {
      await eventually(async () => {
        const { rows } = await service.db.query('SELECT sequence FROM outbox');
        if (rows.length > 0) throw new Error('The outbox is not empty yet');
      });
      return service.published.filter((envelope) => envelope.account_id === account);
    },
  };
}

/** A client that calls as a device with this certificate, as the ingress forwards it. */
export function deviceClient(service: TestService, id: string, accountId: string, certificate: string) {
  const fingerprint = fingerprintOfPem(certificate);
  const client: Client = service.client.with({ token: () => deviceToken({ id, accountId, fingerprint }, 'device') });
  return { client, fingerprint };
}

export const newEventId = () => {
  const hex = `${Date.now().toString(16).padStart(12, '0')}7${randomUUID().replaceAll('-', '').slice(13)}`;
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};
