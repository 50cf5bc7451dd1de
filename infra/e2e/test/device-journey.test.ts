import {
  deviceEndpoints,
  resumeDevice,
  retireDevice,
  revokeDeviceCertificate,
  suspendDevice,
} from '@attribution/contracts';
import { type ClientIdentity, openWire } from '@attribution/simulator';
import { createTestAuthority, eventually, selfSigned } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deviceJourneys } from './journeys/devices.ts';
import { newOwner, startTestPlatform, type TestPlatform } from './support.ts';
import { activeDevice } from './support-devices.ts';
import { waysIn } from './support-ways-in.ts';

let platform: TestPlatform;
let other: Awaited<ReturnType<TestPlatform['startIngress']>>;
beforeAll(async () => {
  platform = await startTestPlatform();
  other = await platform.startIngress();
});
afterAll(async () => {
  await other.stop();
  await platform.stop();
});

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

test('revoked, suspended, resumed and retired hold at two ingresses, on new, kept and resumed connections: from the next request on endpoints of Device, soon on those of Events', async () => {
  const { client: owner } = await newOwner(platform);
  const active = async () => {
    const { firmware, params } = await activeDevice(platform, owner);
    firmware.close();
    return { params, ...waysIn([platform.devices, other.devices], firmware.credential as ClientIdentity) };
  };
  const changes = [
    { change: revokeDeviceCertificate, status: 401 },
    { change: retireDevice, status: 401 },
    { change: suspendDevice, status: 403 },
  ];
  /** A device asks for its configuration (200), or sends plays in a body that is none (400). */
  const endpoints = [
    { method: 'GET', path: '/v2/device/config', letIn: 200, holds: (look: () => Promise<void>) => look() },
    { method: 'POST', path: '/v2/device/plays', letIn: 400, holds: eventually },
  ] as const;
  const tried = changes.flatMap(({ change, status }) =>
    endpoints.map(async ({ method, path, letIn, holds }) => {
      const { params, ask, all, close } = await active();
      const expectAll = async (wanted: number) => expect(await ask(method, path)).toEqual(all(wanted));
      await expectAll(letIn);
      await expectAll(letIn); // By now the sessions are resumed.
      await owner.call(change, { params });
      await holds(() => expectAll(status));
      if (change === suspendDevice) {
        await owner.call(resumeDevice, { params });
        await holds(() => expectAll(letIn));
      }
      close();
    }),
  );
  await Promise.all(tried);
});
