import { randomBytes } from 'node:crypto';
import {
  acceptInvitation,
  createApiKey,
  createCampaign,
  createClient,
  createGroup,
  createInvitation,
  createLocation,
  listSessions,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import { openMailbox } from '@attribution/testing';
import type { z } from 'zod';

/** Somebody who can log in, and what there is to look at. */
export interface Estate {
  readonly email: string;
  readonly password: string;
  /** By prefix. */
  readonly ids: Readonly<Record<'acc' | 'usr' | 'inv' | 'key' | 'rt' | 'grp' | 'loc' | 'cmp', readonly string[]>>;
}

const password = 'a long walk at dawn';

/** An owner with groups, a location in each, campaigns, other users, invitations and API keys. */
export async function newEstate(url: string, mailDirectory: string): Promise<Estate> {
  const mark = randomBytes(5).toString('hex');
  const email = `owner-${mark}@example.com`;
  const mailbox = openMailbox(mailDirectory);
  const anyone = createClient({ baseUrl: url });
  await anyone.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } });
  const code = await mailbox.codeFor(email);
  const session = (await anyone.call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
  const owner = anyone.with({ token: session.access_token });
  const grp: string[] = [];
  const loc: string[] = [];
  const cmp: string[] = [];
  for (const town of ['Zurich', 'Geneva', 'Lugano']) {
    const group = (await owner.call(createGroup, { body: { name: town } })).body;
    const shop = { group_id: group.id, name: `${town} station`, timezone: 'Europe/Zurich' };
    grp.push(group.id);
    loc.push((await owner.call(createLocation, { body: shop })).body.id);
    cmp.push((await owner.call(createCampaign, { body: { name: `Spring in ${town}` } })).body.id);
  }
  // Without locations, so that there are groups that may be deleted.
  for (let n = 1; n <= 12; n++) grp.push((await owner.call(createGroup, { body: { name: `Planned ${n}` } })).body.id);
  const usr = [session.user.id];
  const inv: string[] = [];
  const key: string[] = [];
  for (let n = 1; n <= 3; n++) {
    usr.push(await newUser(`user-${n}-${mark}@example.com`));
    const guest = { email: `guest-${n}-${mark}@example.com` };
    inv.push((await owner.call(createInvitation, { body: guest })).body.id);
    key.push((await owner.call(createApiKey, { body: { name: `Export ${n}` } })).body.id);
  }
  const rt = (await owner.call(listSessions, {})).body.entries.map(({ id }) => id);
  return { email, password, ids: { acc: [session.account.id], usr, inv, key, rt, grp, loc, cmp } };

  async function newUser(address: string): Promise<string> {
    await owner.call(createInvitation, { body: { email: address } });
    const token = await mailbox.tokenFor(address);
    const accepted = await anyone.call(acceptInvitation, { body: { token, full_name: 'Grace Hopper', password } });
    return (accepted.body as z.output<typeof Session>).user.id;
  }
}
