import * as contracts from '@attribution/contracts';
import {
  countRecords,
  countStatements,
  numbersOf,
  oneRecordEach,
  type StatementTable,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { noManifest } from '../src/manifest/none.ts';
import {
  challenge,
  csr,
  imported,
  ingress,
  newEventId,
  newMachine,
  newTenant,
  nowOf,
  operator,
  sendSigned,
  startDevice,
} from './support.ts';
import { type Campaign, startCampaign } from './support-campaign.ts';

let service: TestService;
let campaign: Campaign;
beforeAll(async () => {
  campaign = await startCampaign();
  service = await startDevice({ CAMPAIGN_URL: campaign.url });
});
afterAll(async () => {
  await service.stop();
  campaign.stop();
});

const range = (count: number) => Array.from({ length: count }, (_, at) => at);

/** An account with a device that plays. */
async function active() {
  const tenant = newTenant(service);
  return { ...tenant, ...(await tenant.active()) };
}

/** A device that was heard a second ago: the next request moves when it was heard last. */
async function heard() {
  const player = await active();
  await player.client.call(contracts.sendHeartbeat, { body: {} });
  service.clock.advance({ seconds: 1 });
  return player;
}

const faults = (count: number) => ({
  faults: range(count).map((n) => ({
    event_id: newEventId(),
    code: `storage.${n}`,
    severity: 'error' as const,
    component: null,
    detail: null,
    occurred_at: nowOf(service),
  })),
});

const table: StatementTable = {
  list_devices: {
    statements: 1,
    async prepare(rows) {
      const { owner, claimed } = newTenant(service);
      for (const _ of range(rows)) await claimed();
      return () => owner.call(contracts.listDevices);
    },
  },
  get_device: {
    statements: 1,
    async prepare() {
      const { owner, params } = await active();
      return () => owner.call(contracts.getDevice, { params });
    },
  },
  list_device_faults: {
    statements: 2,
    async prepare(rows) {
      const { owner, client, params } = await active();
      await client.call(contracts.sendFaults, { body: faults(rows) });
      return () => owner.call(contracts.listDeviceFaults, { params });
    },
  },
  claim_device: {
    statements: 9,
    async prepare() {
      const { owner } = newTenant(service);
      const { labelCode } = await imported(service);
      return () => owner.call(contracts.claimDevice, { body: { claim_code: labelCode } });
    },
  },
  update_device: {
    statements: 7,
    async prepare() {
      const { owner, params } = await active();
      return () => owner.call(contracts.updateDevice, { params, body: { name: 'Window left' } });
    },
  },
  change_device_config: {
    statements: 6,
    async prepare() {
      const { owner, params } = await active();
      return () => owner.call(contracts.changeDeviceConfig, { params, body: { desired: { volume: 40 } } });
    },
  },
  suspend_device: {
    statements: 7,
    async prepare() {
      const { owner, params } = await active();
      return () => owner.call(contracts.suspendDevice, { params });
    },
  },
  resume_device: {
    statements: 7,
    async prepare() {
      const { owner, params } = await active();
      await owner.call(contracts.suspendDevice, { params });
      return () => owner.call(contracts.resumeDevice, { params });
    },
  },
  retire_device: {
    statements: 9,
    async prepare() {
      const { owner, params } = await active();
      return () => owner.call(contracts.retireDevice, { params });
    },
  },
  revoke_device_certificate: {
    statements: 7,
    async prepare() {
      const { owner, params } = await active();
      return () => owner.call(contracts.revokeDeviceCertificate, { params, body: {} });
    },
  },
  challenge_device: {
    statements: 6,
    async prepare() {
      const { machine } = await active();
      const text = JSON.stringify({ serial: machine.serial, timestamp: nowOf(service) });
      return () => sendSigned(service, contracts.challengeDevice, text, machine.sign(text));
    },
  },
  /** Of a device that has a certificate already. */
  bootstrap_device: {
    statements: 2,
    async prepare() {
      const { machine } = await heard();
      const { nonce } = await challenge(service, machine);
      const text = JSON.stringify({ serial: machine.serial, nonce, timestamp: nowOf(service), csr });
      return () => sendSigned(service, contracts.bootstrapDevice, text, machine.sign(text));
    },
  },
  /** That says nothing new. */
  send_heartbeat: {
    statements: 2,
    async prepare() {
      const { client } = await heard();
      return () => client.call(contracts.sendHeartbeat, { body: {} });
    },
  },
  get_own_config: {
    statements: 3,
    async prepare() {
      const { client } = await heard();
      return () => client.call(contracts.getOwnConfig);
    },
  },
  report_config: {
    statements: 7,
    async prepare() {
      const { client } = await heard();
      const body = { reported: { volume: 40 }, reported_version: 0, applied_version: 0 };
      return () => client.call(contracts.reportConfig, { body });
    },
  },
  /** Of a device that is installed. */
  get_own_manifest: {
    statements: 5,
    async prepare() {
      const { client, id, install } = await heard();
      const { location_id } = await install(id);
      campaign.manifests.set(id, { ...noManifest(id, service.clock.now()), location_id, version: 1 });
      return () => client.call(contracts.getOwnManifest);
    },
  },
  send_inventory: {
    statements: 3,
    async prepare() {
      const { client } = await heard();
      return () => client.call(contracts.sendInventory, { body: { os: 'linux' } });
    },
  },
  send_faults: {
    statements: 11,
    async prepare(rows) {
      const { client } = await heard();
      const body = faults(rows);
      return () => client.call(contracts.sendFaults, { body });
    },
  },
  renew_certificate: {
    statements: 4,
    async prepare() {
      const { client } = await heard();
      return () => client.call(contracts.renewCertificate, { body: { csr } });
    },
  },
  import_devices: {
    statements: 7,
    async prepare(rows) {
      const devices = range(rows).map(() => newMachine().listed);
      return () => operator(service).call(contracts.importDevices, { body: { devices } });
    },
  },
  /** That say nothing new. */
  relay_heartbeats: {
    statements: 2,
    async prepare(rows) {
      const devices = await Promise.all(range(rows).map(() => heard()));
      const heartbeats = devices.map(({ fingerprint }) => ({ fingerprint, body: '{}' }));
      return () => ingress(service).call(contracts.relayHeartbeats, { body: { heartbeats } });
    },
  },
  find_device_certificate: {
    statements: 2,
    async prepare() {
      const { fingerprint } = await heard();
      return () => ingress(service).call(contracts.findDeviceCertificate, { params: { fingerprint } });
    },
  },
};

test.each([3, 30])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(service, 'device', table, rows)).toEqual(numbersOf(table));
});

test('each endpoint that writes leaves one audit record of a success', async () => {
  expect(await countRecords(service, 'device', table)).toEqual(oneRecordEach('device'));
});
