import { randomBytes } from 'node:crypto';
import {
  createCampaign,
  createClient,
  createGroup,
  createLocation,
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
  readonly ids: Readonly<Record<'acc' | 'grp' | 'loc' | 'cmp', readonly string[]>>;
}

/** An owner with groups, a location in each, and campaigns. */
export async function newEstate(url: string, mailDirectory: string): Promise<Estate> {
  const email = `owner-${randomBytes(5).toString('hex')}@example.com`;
  const password = 'a long walk at dawn';
  const anyone = createClient({ baseUrl: url });
  const { account_id } = (await anyone.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } })).body;
  const code = await openMailbox(mailDirectory).codeFor(email);
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
  return { email, password, ids: { acc: [account_id], grp, loc, cmp } };
}
