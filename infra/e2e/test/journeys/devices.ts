import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  archiveCampaign,
  changeDeviceConfig,
  claimDevice,
  getDevice,
  getDeviceManifest,
  resumeDevice,
  retireDevice,
  revokeDeviceCertificate,
  suspendDevice,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { type DeviceClient, openFileStore } from '@attribution/simulator';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { plainPicture } from '../../upload.ts';
import { publishPicture } from '../support-campaign.ts';
import {
  activeDevice,
  firmwareOf,
  installDevice,
  type Made,
  madeDevices,
  statusOf,
  switchOn,
} from '../support-devices.ts';
import { newOwner, type Platform } from '../support-platform.ts';

/** Devices, from the list of their factory to a screen that plays, and what shuts them out. */
export function deviceJourneys(on: () => Platform): void {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'device-files-'));
    // Campaign makes no manifests before it has read the estate. On a busy machine it tries twice, a minute apart.
    const unknown = { params: { device_id: newId('device') } };
    const campaign = on().inside('campaign', 'device');
    await eventually(async () => expect((await campaign.call(getDeviceManifest, unknown)).status).toBe(404), 100_000);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('a device goes from the list of its factory by the code on its screen to a campaign, whose file it checks and plays until it is archived', async () => {
    const { client } = await newOwner(on());
    const files = await openFileStore(folder);
    const [made] = (await madeDevices(on())) as [Made];
    const unclaimed = switchOn(on(), made.flash, files);
    const { claim_code } = await unclaimed.first('code');
    await unclaimed.off();

    const { id, ...claimed } = (await client.call(claimDevice, { body: { claim_code, name: 'Window left' } })).body;
    expect(claimed).toMatchObject({ serial: made.serial, status: 'claimed', certificate: null });
    const params = { id };
    const desired = { volume: 40, heartbeat_interval_seconds: 10 };
    await client.call(changeDeviceConfig, { params, body: { desired } });
    const place = await installDevice(client, id);
    const picture = plainPicture(place.width_px, place.height_px);
    const { campaign, campaignAd } = await publishPicture(client, picture, { group: place.group, tag: 'window' });

    const device = switchOn(on(), made.flash, files);
    try {
      expect(await device.first('certificate')).toMatchObject({ device_id: id });
      const { sha256 } = await device.first('file');
      expect(sha256).toBe(createHash('sha256').update(picture).digest('hex'));
      expect((await readFile(join(folder, sha256))).equals(picture)).toBe(true);
      const { play } = await device.first('play');
      expect(play).toMatchObject({ screen_id: place.screen, campaign_ad_id: campaignAd, version: 1 });
      expect(await device.first('sent')).toMatchObject({ visits: 0, rejected: 0 });
      await eventually(async () => {
        const { manifest, ...body } = (await client.call(getDevice, { params })).body;
        expect(body).toMatchObject({ status: 'active', online: true, in_sync: true, config: { reported: desired } });
        expect(manifest.delivered_version).toBe(manifest.version);
      });

      await client.call(archiveCampaign, { params: { id: campaign } });
      await eventually(async () => expect((await made.flash.read())?.manifest).toMatchObject({ files: [], items: [] }));
    } finally {
      await device.off();
    }
  });

  test('suspended, resumed, renewed, revoked and retired: each holds from the next request, on connections kept and new', async () => {
    const { client: owner } = await newOwner(on());
    const { made, firmware, params } = await activeDevice(on(), owner);
    const opened: DeviceClient[] = [firmware];
    const connect = (credential = firmware.credential) => {
      const one = firmwareOf(on(), made, credential);
      opened.push(one);
      return one;
    };
    // Where there are several ingresses, connections go to them in turn.
    let kept = [connect(), connect()];
    const statuses = (call: (one: DeviceClient) => Promise<unknown>) =>
      Promise.all([...kept, connect()].map((one) => statusOf(on(), () => call(one))));
    const asking = () => statuses((one) => one.config());
    const beating = () => statuses((one) => one.heartbeat({}));
    const all = (status: number) => [status, status, status];

    expect(await asking()).toEqual(all(200));
    await owner.call(suspendDevice, { params });
    expect([await asking(), await beating()]).toEqual([all(403), all(200)]);
    await owner.call(resumeDevice, { params });
    expect(await asking()).toEqual(all(200));

    const former = firmware.credential;
    expect(await statusOf(on(), () => firmware.renew())).toBe(200);
    const old = () => Promise.all([...kept, connect(former)].map((one) => statusOf(on(), () => one.config())));
    expect(await old()).toEqual(all(200));
    expect(await statusOf(on(), () => firmware.config())).toBe(200);
    expect(await old()).toEqual(all(401));
    kept = [connect(), connect()];
    expect(await asking()).toEqual(all(200));

    await owner.call(revokeDeviceCertificate, { params });
    expect([await asking(), await beating()]).toEqual([all(401), all(401)]);
    // Its key from the factory is good for another certificate.
    expect(await statusOf(on(), () => firmware.bootstrap())).toBe(200);
    kept = [connect(), connect()];
    expect(await asking()).toEqual(all(200));

    await owner.call(retireDevice, { params });
    expect([await asking(), await beating()]).toEqual([all(401), all(401)]);
    expect(await statusOf(on(), () => firmware.bootstrap())).toBe(401);
    for (const connection of opened) connection.close();
  });
}
