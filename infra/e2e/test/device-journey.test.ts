import {
  deviceEndpoints,
  resumeDevice,
  retireDevice,
  revokeDeviceCertificate,
  suspendDevice,
} from '@attribution/contracts';
import { type ClientIdentity, openWire } from '@attribution/simulator';
import { createTestAuthority, selfSigned } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deviceJourneys } from './journeys/devices.ts';
import { newOwner, startTestPlatform, type TestPlatform } from './support.ts';
import { activeDevice } from './support-devices.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

deviceJourneys(() => platform);

test('401 on each endpoint of devices, one same body, for every certificate but a live one; 403 for a suspended device', async () => {
  const { client: owner } = await newOwner(platform);
  const active = () => activeDevice(platform, owner);
  const [live, suspended, revoked, retired] = await Promise.all([active(), active(), active(), active()]);
  await owner.call(suspendDevice, { params: suspended.params });
  await owner.call(revokeDeviceCertificate, { params: revoked.params });
  await owner.call(retireDevice, { params: retired.params });
  const ours = createTestAuthority(JSON.parse(platform.secrets.device_ca));
  const deviceId = live.params.id;
  const strangers: Record<string, ClientIdentity | undefined> = {
    'no certificate': undefined,
    'another authority': createTestAuthority().issue({ deviceId }),
    'itself as authority, with the right name': selfSigned({ deviceId }),
    'a purpose of servers': ours.issueServer(),
    'a time that is over': ours.issue({ deviceId, issuedAt: new Date(Date.now() - 31 * 86_400_000) }),
    'a certificate that was never given': ours.issue({ deviceId }),
    revoked: revoked.firmware.credential,
    retired: retired.firmware.credential,
  };
  const theirs = deviceEndpoints.filter(({ access }) => access.credential === 'device');
  const answers = async (identity: ClientIdentity | undefined) => {
    const wire = openWire({ ...platform.devices, identity, timeoutMs: 30_000 });
    const got = new Map<string, string>();
    for (const { operation, method, path } of theirs) {
      const { status, body } = await wire.send(method as 'GET', path);
      got.set(operation, status < 400 || status === 400 ? 'let in' : `${status} ${body.toString()}`);
    }
    wire.close();
    return got;
  };
  const all = (answer: string) => new Map(theirs.map(({ operation }) => [operation, answer]));
  const identities = Object.entries(strangers);
  const refusals = await Promise.all(identities.map(([, identity]) => answers(identity)));
  const unauthorized = refusals[0]?.get('get_own_config') ?? '';
  expect(unauthorized).toMatch(/^401 .*\/unauthorized"/);
  for (const [index, [what]] of identities.entries())
    expect([what, refusals[index]]).toEqual([what, all(unauthorized)]);

  expect(await answers(live.firmware.credential)).toEqual(all('let in'));
  const shutOut = await answers(suspended.firmware.credential);
  const forbidden = shutOut.get('get_own_config') ?? '';
  expect(forbidden).toMatch(/^403 .*\/forbidden"/);
  expect(shutOut).toEqual(new Map(all(forbidden)).set('send_heartbeat', 'let in'));
  await owner.call(resumeDevice, { params: suspended.params });
  expect(await answers(suspended.firmware.credential)).toEqual(all('let in'));
});
