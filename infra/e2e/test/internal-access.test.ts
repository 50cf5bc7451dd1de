import { callerNames, deviceEndpoints, type Endpoint, internalEndpoints } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { loadServices } from '@attribution/registry';
import {
  badTokens,
  deviceToken,
  internalToken,
  keyToken,
  personToken,
  sendRaw,
  startTestService,
  supportToken,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const environment = { SIMULATED_PAYMENTS_URL: 'http://127.0.0.1:0' };
const called = new Set(internalEndpoints.map(({ service }) => service));
/** The services with Internal endpoints. */
const tested = (await loadServices()).filter(({ name }) => called.has(name));
/** A device that the ingress has recognized. */
const device = { id: newId('device'), accountId: newId('account'), fingerprint: 'a'.repeat(64) };

const callersOf = ({ access }: Endpoint) => (access.credential === 'internal' ? access.callers : []);

test('every service with Internal endpoints is tested here', () => {
  expect(tested.map(({ name }) => name).toSorted()).toEqual([...called].toSorted());
});

test('whatever a service calls lets it in: its definition and the contracts agree', async () => {
  const refused = (await loadServices()).flatMap(({ name, calls }) =>
    Object.keys(calls)
      .filter((other) => !internalEndpoints.some((one) => one.service === other && callersOf(one).includes(name)))
      .map((other) => `${name} calls ${other}`),
  );
  expect(refused).toEqual([]);
});

describe.each(tested)('$name, called directly', (definition) => {
  const self = definition.name;
  let service: TestService;
  beforeAll(async () => {
    service = await startTestService(definition, { environment });
  });
  afterAll(() => service.stop());

  const strangers: [string, string | undefined][] = [
    ...badTokens(),
    ['an owner’s token', personToken()],
    ['a support session’s token', supportToken()],
    ['a key’s token', keyToken({ role: 'admin', key: { type: 'production', readonly: false } })],
  ];
  const other = self === 'campaign' ? 'account' : 'campaign';

  describe.each(internalEndpoints.filter((endpoint) => endpoint.service === self))('$method $path', (endpoint) => {
    const otherCallers: typeof strangers = [
      ...strangers,
      ['an internal token for another service', internalToken('billing', other)],
      ['a token about a device', deviceToken(device, self)],
    ];
    const path = endpoint.path.replaceAll(/\{[a-z_]+\}/g, 'nothing');
    const ask = (token: string | undefined) => sendRaw(service, endpoint.method, path, token, endpoint.body && '{}');

    test.each(callersOf(endpoint))('lets in %s, with a token for this service', async (caller) => {
      expect([200, 400, 404]).toContain((await ask(internalToken(caller, self))).status);
    });

    test('403: refuses every service that its contract does not name, before validating the request', async () => {
      for (const caller of callerNames.filter((one) => !callersOf(endpoint).includes(one))) {
        const { status, text } = await ask(internalToken(caller, self));
        expect([caller, status]).toEqual([caller, 403]);
        expect(JSON.parse(text)).toMatchObject({ detail: 'This endpoint is not for the service that calls.' });
      }
    });

    test('401: refuses every other caller, before validating the request', async () => {
      for (const [what, token] of otherCallers) {
        const { status, headers, text } = await ask(token);
        expect([what, status, headers['www-authenticate']]).toEqual([what, 401, 'Bearer']);
        expect(JSON.parse(text)).toMatchObject({ detail: 'The internal token is missing, invalid or expired.' });
      }
    });
  });

  const ofDevices = deviceEndpoints.filter(({ service: of, access }) => of === self && access.credential === 'device');
  for (const { method, path, body } of ofDevices)
    test(`401: ${method} ${path} refuses all but a device that the ingress vouches for`, async () => {
      const otherCallers: typeof strangers = [
        ...strangers,
        ['the token of the ingress itself', internalToken('ingress', self)],
        ['a token about a device for another service', deviceToken(device, other)],
      ];
      for (const [what, token] of otherCallers) {
        const { status, headers, text } = await sendRaw(service, method, path, token, body && '{}');
        expect([what, status, headers['www-authenticate']]).toEqual([what, 401, 'Bearer']);
        expect(JSON.parse(text)).toMatchObject({ detail: expect.stringContaining('client certificate') });
      }
    });
});
