import {
  bootstrapDevice,
  type Client,
  challengeDevice,
  changeDeviceConfig,
  claimDevice,
  createInstallation,
  type Endpoint,
  getDevice,
  getOwnConfig,
  getOwnManifest,
  listDeviceFaults,
  listDevices,
  renewCertificate,
  reportConfig,
  resumeDevice,
  retireDevice,
  revokeDeviceCertificate,
  sendFaults,
  sendHeartbeat,
  sendInventory,
  sendPlays,
  sendVisits,
  suspendDevice,
  updateDevice,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { type ClientIdentity, makeCsr, newFactoryKey, openWire, readKey } from '@attribution/simulator';
import { eventually } from '@attribution/testing';
import type { Answer, ResponsesByStatus } from './every-status-billing.ts';
import { calling } from './every-status-calls.ts';
import { newOwner, type TestPlatform } from './support.ts';
import { activeDevice, type Made, madeDevices } from './support-devices.ts';
import { bodyIn, newTree } from './support-estate.ts';

interface People {
  readonly platform: () => TestPlatform;
  readonly nobody: () => Client;
  readonly owner: () => Client;
  /** May not change devices. */
  readonly member: () => Client;
  /** Has no access to this service. */
  readonly outsider: () => Client;
}

/** Resolves with the same value each time. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** For the endpoints of people about devices. */
export function ofDevices({ platform, nobody, owner, member, outsider }: People): ResponsesByStatus {
  async function claimed() {
    const [{ labelCode }] = (await madeDevices(platform())) as [Made];
    const { id } = (await owner().call(claimDevice, { body: { claim_code: labelCode } })).body;
    return { labelCode, params: { id } };
  }
  const shared = once(claimed);
  const retired = once(async () => {
    const { params } = await claimed();
    await owner().call(retireDevice, { params });
    return { params };
  });
  async function installed() {
    const { params } = await claimed();
    const body = { ...bodyIn.installation(await newTree(owner())), device_id: params.id };
    await owner().call(createInstallation, { body });
    await eventually(async () => {
      const { installation_id } = (await owner().call(getDevice, { params })).body;
      if (installation_id === null) throw new Error('The device does not know of its installation yet');
    });
    return { params };
  }
  const claim = (client: () => Client, claim_code: string) => client().call(claimDevice, { body: { claim_code } });
  const wrongCode = '00000000';

  const reading = (endpoint: Endpoint) => {
    const [call, params] = [calling(endpoint), async () => ({ params: (await shared()).params })];
    return { 401: call(nobody, params), 403: call(outsider, params) };
  };
  const unknown = { params: { id: newId('device') } };
  const unknownTo = (endpoint: Endpoint, body?: object) => ({
    404: calling(endpoint)(owner, { ...unknown, ...(body && { body }) }),
  });
  function changing(endpoint: Endpoint, body?: object, conflict: () => Promise<object> = retired) {
    const call = calling(endpoint);
    const to = (device: () => Promise<object>) => async () => ({
      ...{ params: ((await device()) as { params: object }).params },
      ...(body && { body }),
    });
    return {
      401: call(nobody, to(shared)),
      403: call(member, to(shared)),
      ...unknownTo(endpoint, body),
      409: call(owner, to(conflict)),
    };
  }
  const wrongly = (endpoint: Endpoint, body: object) => ({
    400: calling(endpoint)(owner, async () => ({ params: (await shared()).params, body })),
  });

  return {
    list_devices: { 400: calling(listDevices)(owner, { query: { status: 'manufactured' } }), ...reading(listDevices) },
    get_device: { ...reading(getDevice), ...unknownTo(getDevice) },
    list_device_faults: {
      400: calling(listDeviceFaults)(owner, async () => ({ ...(await shared()), query: { limit: 0 } })),
      ...reading(listDeviceFaults),
      ...unknownTo(listDeviceFaults),
    },
    claim_device: {
      400: calling(claimDevice)(owner, { body: {} }),
      401: () => claim(nobody, wrongCode),
      403: () => claim(member, wrongCode),
      404: () => claim(owner, wrongCode),
      409: async () => claim(owner, (await shared()).labelCode),
      429: async () => {
        const { client } = await newOwner(platform());
        for (let n = 0; n < 10; n++) await claim(() => client, wrongCode);
        return claim(() => client, wrongCode);
      },
    },
    update_device: { ...wrongly(updateDevice, { serial: 'X' }), ...changing(updateDevice, { name: 'X' }) },
    change_device_config: {
      ...wrongly(changeDeviceConfig, { desired: { heartbeat_interval_seconds: 1 } }),
      ...changing(changeDeviceConfig, { desired: {} }),
    },
    suspend_device: changing(suspendDevice),
    resume_device: changing(resumeDevice),
    retire_device: changing(retireDevice, undefined, installed),
    revoke_device_certificate: {
      ...wrongly(revokeDeviceCertificate, { reason: 'superseded' }),
      ...changing(revokeDeviceCertificate, {}),
    },
  };
}

/** For the endpoints of devices, at the ingress. */
export function ofDevicesThemselves({ platform, owner }: Pick<People, 'platform' | 'owner'>): ResponsesByStatus {
  const active = once(async () => (await activeDevice(platform(), owner())).firmware.credential);
  const suspended = once(async () => {
    const { firmware, params } = await activeDevice(platform(), owner());
    await owner().call(suspendDevice, { params });
    return firmware.credential;
  });
  const stranger = async () => undefined;
  const csr = makeCsr(readKey(newFactoryKey().privateKey), 'X');

  type Shown = () => Promise<ClientIdentity | undefined>;
  interface Request {
    readonly query?: string;
    readonly body?: object;
  }
  const open = (identity: ClientIdentity | undefined, localAddress?: string) =>
    openWire({ ...platform().devices, identity, localAddress, timeoutMs: 30_000 });

  /** Sends a request, several times on one connection, and resolves with the last response. */
  async function send({ method, path }: Endpoint, shown: Shown, { query = '', body }: Request, times = 1): Answer {
    // An address of its own, as the requests of a first contact are counted by address.
    const wire = open(await shown(), times > 1 ? '127.7.7.7' : undefined);
    const ask = () => wire.send(method as 'GET', path + query, body && JSON.stringify(body));
    try {
      for (let n = 1; n < times; n++) await ask();
      return await ask();
    } finally {
      wire.close();
    }
  }
  const refused = (endpoint: Endpoint, body?: object) => ({
    401: () => send(endpoint, stranger, { ...(body && { body }) }),
    ...(!('even_suspended' in endpoint.access) && {
      403: () => send(endpoint, suspended, { ...(body && { body }) }),
    }),
  });
  const wrong = (endpoint: Endpoint, request: Request, status = 400) => ({
    [status]: () => send(endpoint, active, request),
  });
  const factory = (endpoint: Endpoint, body: object) => ({
    400: () => send(endpoint, stranger, { body: {} }),
    401: () => send(endpoint, stranger, { body }),
    429: () => send(endpoint, stranger, { body: {} }, 301),
  });
  const contact = { serial: 'NOBODY', timestamp: new Date().toISOString() };
  const report = { reported: {}, reported_version: 0, applied_version: 0 };

  return {
    challenge_device: factory(challengeDevice, contact),
    bootstrap_device: factory(bootstrapDevice, { ...contact, nonce: 'x', csr }),
    send_heartbeat: {
      ...wrong(sendHeartbeat, { body: { uptime_seconds: -1 } }),
      ...refused(sendHeartbeat),
      ...wrong(sendHeartbeat, { body: { applied_version: 7 } }, 409),
    },
    get_own_config: refused(getOwnConfig),
    report_config: {
      ...wrong(reportConfig, { body: {} }),
      ...refused(reportConfig, report),
      ...wrong(reportConfig, { body: { ...report, reported_version: 7 } }, 409),
    },
    get_own_manifest: { ...wrong(getOwnManifest, { query: '?known_version=x' }), ...refused(getOwnManifest) },
    send_inventory: { ...wrong(sendInventory, { body: { os: 7 } }), ...refused(sendInventory) },
    send_faults: { ...wrong(sendFaults, { body: { faults: [] } }), ...refused(sendFaults) },
    send_visits: { ...wrong(sendVisits, { body: { items: [] } }), ...refused(sendVisits) },
    send_plays: { ...wrong(sendPlays, { body: { items: [] } }), ...refused(sendPlays) },
    renew_certificate: {
      ...wrong(renewCertificate, { body: { csr: 'none' } }),
      ...refused(renewCertificate, { csr }),
      // Of renewals at once one wins; they may also have come one after the other.
      409: () =>
        eventually(async () => {
          const renewals = Array.from({ length: 8 }, () => send(renewCertificate, active, { body: { csr } }));
          const late = (await Promise.all(renewals)).find(({ status }) => status !== 200);
          if (!late) throw new Error('No two renewals met');
          return late;
        }),
    },
  };
}
