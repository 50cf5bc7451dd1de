import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Client,
  createCampaign,
  createClient,
  getEstateImport,
  importEstate,
  login,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import type { z } from 'zod';
import { publishDemo, until } from './demo-campaign.ts';

const credentials = { email: 'demo@example.com', password: 'look around here' };

const shops = [
  ['Zurich', 'Bahnhofstrasse', 'Europe/Zurich'],
  ['Zurich', 'Oerlikon', 'Europe/Zurich'],
  ['New York', 'Fifth Avenue', 'America/New_York'],
  ['New York', 'Brooklyn', 'America/New_York'],
] as const;

type Row = { readonly kind: string; readonly [field: string]: unknown };

/** The rows of an import: two groups of two shops, each with a window, a counter and three screens. */
const estate = [...new Set(shops.map(([group]) => group))]
  .map((name): Row => ({ kind: 'group', external_id: name, name }))
  .concat(
    shops.flatMap(([group, name, timezone]) => [
      { kind: 'location', external_id: name, parent: group, name, timezone, venue_type: 'retail' },
      { kind: 'zone', external_id: `${name} window`, parent: name, name: 'Shop window', zone_kind: 'window' },
      { kind: 'zone', external_id: `${name} counter`, parent: name, name: 'Counter', zone_kind: 'checkout' },
      screenIn(`${name} window`, 'Left', 1080, 1920),
      screenIn(`${name} window`, 'Right', 1080, 1920),
      screenIn(`${name} counter`, 'Menu', 1920, 1080),
    ]),
  );

function screenIn(zone: string, name: string, width_px: number, height_px: number): Row {
  const tags = [zone.endsWith('window') ? 'window' : 'counter'];
  return { kind: 'screen', external_id: `${zone} ${name}`, parent: zone, name, tags, width_px, height_px };
}

const draft = { name: 'Coffee happy hour', brief: { product: 'Espresso', objective: 'More visits in the afternoon' } };

/** Signs up the demo account through the API and fills it, unless it exists. */
export async function seedDemo(
  baseUrl: string,
  mailDirectory: string,
  say: (line: string) => void,
): Promise<typeof credentials> {
  const api = createClient({ baseUrl });
  const existing = await api.call(login, { body: credentials });
  if (existing.status === 200) return credentials;

  say('Creating the demo account');
  await api.call(signup, { body: { ...credentials, full_name: 'Demo Retail' } }).then((answer) => answer.body);
  const code = await waitForCode(mailDirectory, credentials.email);
  const verified = await api.call(verifyEmail, { body: { email: credentials.email, code } });
  await fill(api.with({ token: (verified.body as z.output<typeof Session>).access_token }));
  return credentials;
}

async function fill(api: Client): Promise<void> {
  const content = estate.map((row) => `${JSON.stringify(row)}\n`).join('');
  const { body: job } = await api.call(importEstate, { upload: { media: 'application/x-ndjson', content } });
  await until(async () => {
    const { body } = await api.call(getEstateImport, { params: { id: job.id } });
    if (body.status === 'failed' || body.rows.refused > 0)
      throw new Error(`The demo's estate was refused: ${body.error}`);
    return body.status === 'succeeded';
  });
  await publishDemo(api, estate.filter((row) => row.kind === 'screen').length);
  await api.call(createCampaign, { body: draft }).then((answer) => answer.body);
}

/** The code of the latest message to an address. */
async function waitForCode(directory: string, email: string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    // A name that begins with a dot is a message that is being written, and is about to get another name.
    const isMail = (name: string) => !name.startsWith('.') && name.endsWith(`-${email}.eml`);
    const names = (await readdir(directory)).filter(isMail).sort();
    const latest = names.at(-1);
    const code = latest && /^\d{6}$/m.exec(await readFile(join(directory, latest), 'utf8'))?.[0];
    if (code) return code;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`No code for ${email} arrived in ${directory}`);
}
