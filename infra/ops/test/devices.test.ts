import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Authority, type AuthorityFiles, authorityIn } from '@attribution/certificates';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type OpenDatabase, openServiceDatabase, ops } from './support.ts';

let directory: string;
let device: OpenDatabase;
let files: AuthorityFiles;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ops-devices-'));
  [device, files] = await Promise.all([openServiceDatabase('device'), authorityIn(directory)]);
});
afterAll(async () => {
  await device.drop();
  await rm(directory, { recursive: true });
});

const public_key = () => generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();

async function listed(content: unknown): Promise<string> {
  const file = join(directory, 'list.json');
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

test('a factory list is taken over, and the answer is JSON; a dry run keeps nothing', async () => {
  const devices = [{ serial: 'PLAYER-0001', public_key: public_key() }, { serial: 'x' }];
  const file = await listed({ devices });
  const answer = { created: 1, unchanged: 0, rejected: [{ index: 1, detail: expect.any(String) }] };
  const dry = await ops(`devices import ${file} --dry-run`, device.environment);
  expect([dry.code, JSON.parse(dry.out)]).toEqual([0, answer]);
  expect((await ops('devices list', device.environment)).out).toBe('');
  const real = await ops(`devices import ${file}`, device.environment);
  expect([real.code, JSON.parse(real.out)]).toEqual([0, answer]);
  expect(JSON.parse((await ops(`devices import ${file}`, device.environment)).out)).toMatchObject({ unchanged: 1 });
  const { code, out } = await ops('devices list', device.environment);
  expect([code, JSON.parse(out)]).toEqual([
    0,
    expect.objectContaining({ serial: 'PLAYER-0001', status: 'manufactured' }),
  ]);
});

test('a list of 1,000 is taken over whole, what cannot be kept is refused by itself, and all of them are listed', async () => {
  const before = (await ops('devices list', device.environment)).out.split('\n').filter(Boolean).length;
  const devices = Array.from({ length: 1_000 }, (_, n) => ({
    ...{ serial: `PLAYER-1${String(n).padStart(4, '0')}`, public_key: public_key() },
    ...(n === 700 && { model: 'a\0b' }),
    ...(n === 800 && { hardware_revision: '\ud800' }),
  }));
  const { code, out } = await ops(`devices import ${await listed({ devices })}`, device.environment);
  expect([code, JSON.parse(out)]).toEqual([
    0,
    {
      created: 998,
      unchanged: 0,
      rejected: [
        { index: 700, detail: 'model: contains a NUL character.' },
        { index: 800, detail: 'hardware_revision: contains half of a surrogate pair.' },
      ],
    },
  ]);
  const all = (await ops('devices list', device.environment)).out.split('\n').map((line) => JSON.parse(line).id);
  expect([all.length, new Set(all).size]).toEqual([before + 998, before + 998]);
});

test.each<[string, unknown]>([
  ['is no JSON', 'nothing'],
  ['has no devices', {}],
  ['has none of them', { devices: [] }],
  ['has too many', { devices: Array.from({ length: 1001 }, () => ({})) }],
])('a file that %s is refused, with another exit code than 0', async (_what, content) => {
  const { code, out, err } = await ops(`devices import ${await listed(content)}`, device.environment);
  expect([code, out, err]).toEqual([1, '', expect.stringContaining('nothing was imported')]);
});

test('a command without its file, or with one that is not there, is refused', async () => {
  expect((await ops('devices import', device.environment)).code).toBe(2);
  expect((await ops('devices import /nowhere.json', device.environment)).code).toBe(1);
});

test('a rotated authority signs below the same root, and a dry run writes nothing', async () => {
  const read = async () => Authority.parse(JSON.parse(await readFile(files.authority, 'utf8')));
  const before = await read();
  expect((await ops('device-ca rotate --dry-run', { LOCAL_DIR: directory })).code).toBe(0);
  expect(await read()).toEqual(before);
  expect((await ops('device-ca rotate', { LOCAL_DIR: directory })).code).toBe(0);
  const after = await read();
  expect([after.root, after.certificate === before.certificate]).toEqual([before.root, false]);
  expect(new X509Certificate(after.certificate).verify(new X509Certificate(after.root).publicKey)).toBe(true);
  expect((await ops('device-ca rotate', { DEVICE_CA: JSON.stringify(after) })).code).toBe(2);
  expect((await ops('device-ca rotate', { LOCAL_DIR: '/nowhere' })).code).toBe(1);
});
