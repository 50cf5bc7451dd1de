import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { makeCsr } from './csr.ts';
import type { Manifest } from './manifest.ts';
import { type ClientIdentity, openWire, type Reply, type Wire, type WireOptions } from './wire.ts';

/** A response that is no success. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  /** What `Retry-After` says, in milliseconds; 0 without it. */
  readonly retryAfterMs: number;

  constructor(what: string, { status, headers, body }: Reply) {
    super(`${what} answered ${status}: ${body.toString().slice(0, 200)}`);
    this.status = status;
    this.retryAfterMs = 1_000 * Number(headers['retry-after'] ?? 0) || 0;
  }
}

/** The certificate of a device, and the key of it, which never leaves the device. */
export interface Credential extends ClientIdentity {
  readonly deviceId: string;
  /** Instants of the server, ISO 8601. */
  readonly notAfter: string;
  readonly renewAfter: string;
}

/** Not claimed yet: the device shows the code, and asks again. */
export interface Unclaimed {
  readonly claimCode: string;
  readonly retryAfterMs: number;
}

export interface Heartbeat {
  readonly server_time: string;
  readonly status: string;
  readonly desired_version: number;
  readonly manifest_version: number | null;
  readonly renew_after: string;
  readonly heartbeat_interval_seconds: number;
}

export interface Config {
  readonly desired: Record<string, unknown>;
  readonly desired_version: number;
  readonly reported_version: number;
  readonly applied_version: number;
}

/** What became of the items of a batch. Whatever it was, they are not sent again. */
export interface BatchAnswer {
  readonly accepted: number;
  readonly duplicates: number;
  readonly rejected: readonly { readonly index: number; readonly detail: string }[];
}

interface CertificateAnswer {
  readonly device_id: string;
  readonly certificate: string;
  readonly chain: readonly string[];
  readonly not_after: string;
  readonly renew_after: string;
  readonly server_time: string;
}

export interface DeviceClientOptions extends Omit<WireOptions, 'identity' | 'timeoutMs'> {
  readonly serial: string;
  /** The key that the factory has put into the device. */
  readonly factoryKey: KeyObject;
  /** Default: 15 s for a request and its response. */
  readonly timeoutMs?: number;
  /** Of a device that had a certificate before it was switched off. */
  readonly credential?: Credential | undefined;
}

export type DeviceClient = ReturnType<typeof createDeviceClient>;

/** Signs the very bytes that are sent. The kind of the key says how: PKCS #1 v1.5, ECDSA in DER, or Ed25519. */
export const signBody = (key: KeyObject, body: string): string =>
  sign(key.asymmetricKeyType === 'ed25519' ? null : 'sha256', Buffer.from(body), key).toString('base64');

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;

/**
 * What the firmware of a device needs of the platform. Every call rejects with `Refused` for a response that is no success,
 * and with the connection's error if there is none. 401: bootstrap again. 403: keep what there is, and ask again.
 */
export function createDeviceClient(options: DeviceClientOptions) {
  const { serial, factoryKey, timeoutMs = 15_000 } = options;
  let credential = options.credential;
  /** What has to be added to this machine's clock to have the server's. */
  let offsetMs = 0;
  let factoryWire: Wire | undefined;
  let deviceWire: Wire | undefined;

  const open = (identity?: ClientIdentity) => openWire({ ...options, identity, timeoutMs });

  function read<T>(what: string, reply: Reply, ...expected: readonly number[]): T {
    if (!expected.includes(reply.status)) throw new Refused(what, reply);
    return (reply.body.length === 0 ? undefined : JSON.parse(reply.body.toString())) as T;
  }

  /** The server took its time in the middle of the round trip, as well as can be known. */
  function setClock(serverTime: string, { roundTripMs }: Reply): void {
    offsetMs = Date.parse(serverTime) + roundTripMs / 2 - Date.now();
  }

  function keep(answer: CertificateAnswer, key: KeyObject, reply: Reply): Credential {
    setClock(answer.server_time, reply);
    deviceWire?.close(); // The next request shows the new certificate.
    deviceWire = undefined;
    credential = {
      deviceId: answer.device_id,
      cert: answer.certificate + answer.chain[0],
      key: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
      notAfter: answer.not_after,
      renewAfter: answer.renew_after,
    };
    return credential;
  }

  /** First contact: no certificate is shown, the factory's key signs the body. */
  async function sendSigned(path: string, value: object): Promise<Reply> {
    factoryWire ??= open();
    const body = JSON.stringify(value);
    return factoryWire.send('POST', path, body, { 'x-device-signature': signBody(factoryKey, body) });
  }

  const send: Wire['send'] = (...request) => {
    if (!credential) throw new Error('The device has no certificate');
    deviceWire ??= open(credential);
    return deviceWire.send(...request);
  };

  const timestamp = () => new Date(Date.now() + offsetMs).toISOString();

  async function sendBatch(kind: 'plays' | 'visits', items: readonly object[]): Promise<BatchAnswer> {
    const body = JSON.stringify({ sent_at: timestamp(), items });
    return read(kind, await send('POST', `/v2/device/${kind}`, body), 202);
  }

  return {
    get credential() {
      return credential;
    },
    /** The server's time, as well as this device knows it, in milliseconds since the epoch. */
    now: () => Date.now() + offsetMs,

    /** Asks for a nonce and spends it: the first certificate, or the code that a person claims the device with. */
    async bootstrap(): Promise<Credential | Unclaimed> {
      const challenge = await sendSigned('/v2/device/challenges', { serial, timestamp: timestamp() });
      const { nonce, server_time } = read<{ nonce: string; server_time: string }>('challenges', challenge, 200);
      setClock(server_time, challenge);
      const key = newKey();
      const csr = makeCsr(key, serial);
      const reply = await sendSigned('/v2/device/bootstrap', { serial, nonce, timestamp: timestamp(), csr });
      if (reply.status === 202) {
        const { claim_code, retry_after } = read<{ claim_code: string; retry_after: number }>('bootstrap', reply, 202);
        return { claimCode: claim_code, retryAfterMs: retry_after * 1_000 };
      }
      const answer = read<CertificateAnswer>('bootstrap', reply, 200);
      factoryWire?.close();
      factoryWire = undefined;
      return keep(answer, key, reply);
    },

    /** Replaces the certificate. The present one stays good until the new one is used, so a lost answer does no harm. */
    async renew(): Promise<Credential> {
      const key = newKey();
      const reply = await send('POST', '/v2/device/certificate/renew', JSON.stringify({ csr: makeCsr(key, serial) }));
      return keep(read<CertificateAnswer>('renew', reply, 200), key, reply);
    },

    async heartbeat(state: object): Promise<Heartbeat> {
      const reply = await send('POST', '/v2/device/heartbeat', JSON.stringify({ ...state, clock: timestamp() }));
      const answer = read<Heartbeat>('heartbeat', reply, 200);
      setClock(answer.server_time, reply);
      return answer;
    },

    config: async (): Promise<Config> => read<Config>('config', await send('GET', '/v2/device/config'), 200),

    async report(reported: object, reportedVersion: number, appliedVersion: number): Promise<void> {
      const body = { reported, reported_version: reportedVersion, applied_version: appliedVersion };
      read('config/reported', await send('PUT', '/v2/device/config/reported', JSON.stringify(body)), 200);
    },

    /** The manifest; undefined if the known version is the current one. Without a known version the URLs are new. */
    async manifest(knownVersion?: number): Promise<Manifest | undefined> {
      const query = knownVersion === undefined ? '' : `?known_version=${knownVersion}`;
      return read<Manifest | undefined>('manifest', await send('GET', `/v2/device/manifest${query}`), 200, 204);
    },

    async inventory(inventory: object): Promise<void> {
      read('inventory', await send('POST', '/v2/device/inventory', JSON.stringify(inventory)), 204);
    },

    async faults(faults: readonly object[]): Promise<void> {
      read('faults', await send('POST', '/v2/device/faults', JSON.stringify({ faults })), 202);
    },

    /** Sends up to 500 items, whose times are the server's, as well as this device knows it. */
    plays: (items: readonly object[]): Promise<BatchAnswer> => sendBatch('plays', items),
    visits: (items: readonly object[]): Promise<BatchAnswer> => sendBatch('visits', items),

    /** Forgets the certificate: the next thing to do is to bootstrap. */
    forget(): void {
      credential = undefined;
      deviceWire?.close();
      deviceWire = undefined;
    },

    close(): void {
      factoryWire?.close();
      deviceWire?.close();
    },
  };
}

/** A key as a factory makes it: the private half in PEM, and the public half for the factory's list. */
export function newFactoryKey(): { readonly privateKey: string; readonly publicKey: string } {
  const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    privateKey: pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  };
}

export const readKey = (pem: string): KeyObject => createPrivateKey(pem);
