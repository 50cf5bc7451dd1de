import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Client,
  createCampaign,
  createClient,
  createGroup,
  createLocation,
  login,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import type { z } from 'zod';

const credentials = { email: 'demo@example.com', password: 'look around here' };

const estate = [
  {
    group: 'Zurich',
    locations: [
      ['Bahnhofstrasse', 'Europe/Zurich'],
      ['Oerlikon', 'Europe/Zurich'],
    ],
  },
  {
    group: 'New York',
    locations: [
      ['Fifth Avenue', 'America/New_York'],
      ['Brooklyn', 'America/New_York'],
    ],
  },
] as const;

const campaigns = [
  {
    name: 'Summer sneakers',
    brief: { product: 'Trail sneakers', objective: 'Visits to the shoe aisle' },
    priority: 10,
  },
  { name: 'Coffee happy hour', brief: { product: 'Espresso', objective: 'More visits in the afternoon' } },
];

/** Signs the demo account up through the API, once, and fills it. */
export async function seedDemo(
  baseUrl: string,
  mailDirectory: string,
  say: (line: string) => void,
): Promise<typeof credentials> {
  const api = createClient({ baseUrl });
  const known = await api.call(login, { body: credentials });
  if (known.status === 200) return credentials;

  say('Making the demo account');
  await api.call(signup, { body: { ...credentials, full_name: 'Demo Retail' } }).then((answer) => answer.body);
  const code = await waitForCode(mailDirectory, credentials.email);
  const verified = await api.call(verifyEmail, { body: { email: credentials.email, code } });
  await fill(api.with({ token: (verified.body as z.output<typeof Session>).access_token }));
  return credentials;
}

async function fill(api: Client): Promise<void> {
  for (const { group, locations } of estate) {
    const { id: group_id } = (await api.call(createGroup, { body: { name: group } })).body;
    for (const [name, timezone] of locations) {
      await api.call(createLocation, { body: { group_id, name, timezone } }).then((answer) => answer.body);
    }
  }
  for (const body of campaigns) await api.call(createCampaign, { body }).then((answer) => answer.body);
}

/** The code of the latest message to an address. */
async function waitForCode(directory: string, email: string): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const names = (await readdir(directory)).filter((name) => name.endsWith(`-${email}.eml`)).sort();
    const latest = names.at(-1);
    const code = latest && /^\d{6}$/m.exec(await readFile(join(directory, latest), 'utf8'))?.[0];
    if (code) return code;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`No code for ${email} arrived in ${directory}`);
}
