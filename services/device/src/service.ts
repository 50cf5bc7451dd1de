import type { Authority } from '@attribution/certificates';
import type { OpenDependencies, ServiceContents } from '@attribution/service';
import { onAccountEnds } from './accounts/index.ts';
import { claimDeviceEndpoint } from './claims/index.ts';
import { bootstrapEndpoint, challengeEndpoint, createSignatureJudge } from './contact/index.ts';
import { getDeviceEndpoint, listDevicesEndpoint, updateDeviceEndpoint } from './devices/index.ts';
import { listFaultsEndpoint, sendFaultsEndpoint } from './faults/index.ts';
import { importDevicesEndpoint } from './imports/index.ts';
import { sendInventoryEndpoint } from './inventory/index.ts';
import * as life from './life/index.ts';
import { getOwnManifestEndpoint, manifestsOf, onManifestChanged } from './manifest/index.ts';
import { openPresence, tellOffline } from './presence/index.ts';
import { findCertificateEndpoint, renewCertificateEndpoint } from './renewal/index.ts';
import * as shadow from './shadow/index.ts';
import type { DeviceDatabase, Tx } from './store.ts';

interface Config {
  readonly DEVICE_CA: () => Authority;
}

type DeviceDependencies = OpenDependencies<DeviceDatabase, Config, 'campaign' | 'organization'>;

export function openDevice({
  database,
  outbox,
  clock,
  config,
  clients,
  logger,
}: DeviceDependencies): ServiceContents<Tx> {
  const own = { database, outbox, clock, presence: openPresence(database) };
  const authority = config.DEVICE_CA;
  const contact = { ...own, signatures: createSignatureJudge(), authority };

  return {
    implementations: [
      importDevicesEndpoint(own),
      findCertificateEndpoint(own),
      shadow.relayHeartbeatsEndpoint({ ...own, logger }),
      listDevicesEndpoint(own),
      claimDeviceEndpoint(own), // Before the endpoints of one device, whose paths would take "claims" for an id.
      getDeviceEndpoint(own),
      updateDeviceEndpoint(own),
      shadow.changeConfigEndpoint(own),
      listFaultsEndpoint(database),
      life.suspendDeviceEndpoint(own),
      life.resumeDeviceEndpoint(own),
      life.retireDeviceEndpoint(own),
      life.revokeCertificateEndpoint(own),
      challengeEndpoint(contact),
      bootstrapEndpoint(contact),
      shadow.sendHeartbeatEndpoint(own),
      shadow.getOwnConfigEndpoint(own),
      shadow.reportConfigEndpoint(own),
      getOwnManifestEndpoint({ ...own, manifestOf: manifestsOf(clients.campaign) }),
      sendInventoryEndpoint(own),
      sendFaultsEndpoint(own),
      renewCertificateEndpoint({ ...own, authority }),
    ],
    handlers: [...onAccountEnds, onManifestChanged],
    jobs: [tellOffline(own)],
  };
}
