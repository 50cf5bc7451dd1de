import { randomBytes } from 'node:crypto';
import {
  addPaymentMethod,
  type Client,
  createAd,
  createAdLibrary,
  createApiKey,
  createBlacklistEntry,
  createCamera,
  createCampaign,
  createCheckoutSession,
  createClient,
  createGroup,
  createInstallation,
  createInvitation,
  createLocation,
  createMediaLibrary,
  createScreen,
  createZone,
  estateFileExamples,
  getCheckoutSession,
  getEstateImport,
  importEstate,
  listPayments,
  listSessions,
  type Session,
  signup,
  verifyEmail,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, openMailbox } from '@attribution/testing';
import type { z } from 'zod';
import { readyAsset } from '../../ready-asset.ts';
import { rowsOf } from '../crash/check/databases.ts';
import { patientFetch } from '../patient-fetch.ts';
import { type Callers, newCallers, newUser, password } from './callers.ts';
import { fillDevices } from './devices.ts';

/** An account: those who may send requests in it, and the ids of what it contains. */
export interface Estate {
  readonly callers: Callers;
  /** The group in which the member sees what there is. */
  readonly group: string;
  /** Existing ids by prefix. */
  readonly ids: Readonly<Record<Prefix, readonly string[]>>;
  /** The origin of the payment provider's pages. */
  readonly pages: string;
  /** Codes by which devices can be claimed. */
  readonly labels: readonly string[];
}
const places = ['grp', 'loc', 'zon', 'scr', 'ins', 'cam', 'job'] as const;
type Place = (typeof places)[number];
type Studio = 'mlb' | 'asl' | 'mda' | 'ad' | 'cad';
type Prefix = 'bl' | 'acc' | 'usr' | 'inv' | 'key' | 'rt' | 'cmp' | 'cs' | 'pay' | 'ref' | 'dev' | Place | Studio;

export interface Where {
  readonly url: string;
  readonly mailDirectory: string;
  /** The folder of `npm start`. */
  readonly directory: string;
  readonly databases: { readonly billing: string; readonly campaign: string; readonly device: string };
}

/**
 * Creates an owner with groups and everything in them, an import, campaigns, users, invitations, API keys, payments, refunds,
 * a subscription, devices and a blacklist.
 */
export async function newEstate({ url, mailDirectory, directory, databases }: Where): Promise<Estate> {
  const mark = randomBytes(5).toString('hex');
  const email = `owner-${mark}@example.com`;
  const mailbox = openMailbox(mailDirectory);
  const anyone = createClient({ baseUrl: url, fetch: patientFetch });
  await anyone.call(signup, { body: { email, password, full_name: 'Ada Lovelace' } });
  const code = await mailbox.codeFor(email);
  const session = (await anyone.call(verifyEmail, { body: { email, code } })).body as z.output<typeof Session>;
  const owner = anyone.with({ token: session.access_token });
  const built = await buildAll(owner);
  const [group = '', loc = ''] = [built.grp.at(0), built.loc.at(0)];
  const cmp: string[] = [];
  for (const [n, town] of towns.entries()) {
    const body = { name: `Spring in ${town}`, group_id: n < shared ? group : null };
    cmp.push((await owner.call(createCampaign, { body })).body.id);
  }
  const usr = [session.user.id];
  const inv: string[] = [];
  const key: string[] = [];
  for (let n = 1; n <= 3; n++) {
    const user = await newUser({ anyone, mailbox, owner, email: `user-${n}-${mark}@example.com` });
    usr.push(user.user.id);
    const guest = { email: `guest-${n}-${mark}@example.com` };
    inv.push((await owner.call(createInvitation, { body: guest })).body.id);
    key.push((await owner.call(createApiKey, { body: { name: `Export ${n}` } })).body.id);
  }
  const rt = (await owner.call(listSessions, {})).body.entries.map(({ id }) => id);
  const { pages, ...bought } = await buyAll(owner, databases.billing);
  const studio = await fillStudio(owner, session.account.id, databases.campaign, { group, zone: built.zon[0] ?? '' });
  const { dev, labels } = await fillDevices(owner, databases.device);
  await owner.call(createInstallation, { body: { location_id: loc, device_id: dev[0] ?? '', outputs: [] } });
  const bl: string[] = [];
  for (const [n] of towns.entries()) {
    const where = { location_id: n < shared ? loc : null };
    const body = { visitor_key: `staff-${mark}-${n}`.padEnd(24, 'x'), reason: 'staff', ...where } as const;
    bl.push((await owner.call(createBlacklistEntry, { body })).body.id);
  }
  const ids = { acc: [session.account.id], usr, inv, key, rt, cmp, ...built, ...bought, ...studio, dev, bl };
  // One of them has nothing yet.
  const groups = [group, built.grp.at(-1) ?? ''];
  const callers = await newCallers({ anyone, mailbox, directory, owner: { client: owner, email, session }, groups });
  return { callers, group, ids, pages, labels };
}

const towns = ['Zurich', 'Geneva', 'Lugano'];
/** Of what there is one for each town, so many belong to the first town's group, or to no group. */
const shared = 2;

/** Creates the estate: in each town a location with one resource of each kind; and an import that has succeeded. */
async function buildAll(owner: Client): Promise<Record<Place, string[]>> {
  const built = Object.fromEntries(places.map((place) => [place, [] as string[]])) as Record<Place, string[]>;
  const note = ({ body: { id } }: { readonly body: { readonly id: string } }) => {
    built[id.split('_')[0] as Place].push(id);
    return id;
  };
  for (const town of towns) {
    const group_id = note(await owner.call(createGroup, { body: { name: town } }));
    const shop = { group_id, name: `${town} station`, timezone: 'Europe/Zurich' };
    const location_id = note(await owner.call(createLocation, { body: shop }));
    const zone_id = note(await owner.call(createZone, { body: { location_id, name: 'Window' } }));
    const window = { zone_id, name: 'Window left', width_px: 1920, height_px: 1080, tags: ['window'] };
    const screen_id = note(await owner.call(createScreen, { body: window }));
    const outputs = [{ output: 'HDMI-1', screen_id }];
    note(await owner.call(createInstallation, { body: { location_id, device_id: newId('device'), outputs } }));
    note(await owner.call(createCamera, { body: { zone_id, device_id: newId('device'), name: 'Door' } }));
  }
  // Groups without locations, which can be deleted.
  for (let n = 1; n <= 12; n++) note(await owner.call(createGroup, { body: { name: `Planned ${n}` } }));
  const upload = { media: 'text/csv', content: estateFileExamples['text/csv'] } as const;
  const id = note(await owner.call(importEstate, { upload }));
  await eventually(async () => {
    const { status } = (await owner.call(getEstateImport, { params: { id } })).body;
    if (status !== 'succeeded') throw new Error(`The import is ${status}`);
  });
  return built;
}

/** Creates an open checkout and paid ones, payments, refunds and a saved card. */
async function buyAll(owner: Client, databaseUrl: string) {
  const cs: string[] = [];
  let pages = '';
  for (const plan_key of ['starter', 'tokens_1000', 'tokens_10000', 'left open']) {
    const mode = plan_key === 'starter' ? 'subscription' : 'payment';
    const isPaid = plan_key !== 'left open';
    const body = { mode, plan_key: isPaid ? plan_key : 'tokens_1000' } as const;
    const { id, url } = (await owner.call(createCheckoutSession, { body })).body;
    cs.push(id);
    pages = new URL(url).origin;
    if (!isPaid) continue;
    await fill(url);
    await eventually(async () => {
      const { status } = (await owner.call(getCheckoutSession, { params: { id } })).body;
      if (status !== 'complete') throw new Error(`Checkout ${id} is ${status}`);
    });
  }
  const { client_secret } = (await owner.call(addPaymentMethod)).body;
  await fill(`${pages}/setup/${client_secret}`);
  const payments = (await owner.call(listPayments)).body.entries;
  const [bought] = payments.filter(({ kind }) => kind === 'token_pack');
  if (!bought) throw new Error('Nothing was bought');
  const ref = [newId('refund'), newId('refund')];
  // Refunds are created by an Internal endpoint, which the gateway does not have.
  for (const id of ref)
    await rowsOf(
      databaseUrl,
      `INSERT INTO refunds (id, account_id, payment_id, amount_cents, token_amount, destination, reason, status,
         provider_refund_id, idempotency_key, created_at)
       VALUES ('${id}', '${bought.account_id}', '${bought.id}', 90, 100, 'payment_method', 'duplicate', 'succeeded',
         're_${id}', '${id}', now())`,
    );
  return { pages, cs, pay: payments.map(({ id }) => id), ref };
}

/** Creates libraries, and ads of pictures that are ready, without the time that processing them takes. */
async function fillStudio(
  owner: Client,
  account: string,
  databaseUrl: string,
  { group, zone }: { readonly group: string; readonly zone: string },
): Promise<Record<Studio, string[]>> {
  // Its id is not among those that generated requests use.
  const screen = { zone_id: zone, name: 'Studio', width_px: 1920, height_px: 1080, tags: ['studio'] };
  await owner.call(createScreen, { body: screen });
  const made: Record<Studio, string[]> = { mlb: [], asl: [], mda: [], ad: [], cad: [] };
  for (const [n, name] of towns.entries()) {
    const library = { name, group_id: n < shared ? group : null };
    const media_library_id = (await owner.call(createMediaLibrary, { body: library })).body.id;
    const ad_library_id = (await owner.call(createAdLibrary, { body: library })).body.id;
    const [asset, analysis] = [newId('media_asset'), newId('analysis')];
    await rowsOf(
      databaseUrl,
      `${readyAsset(asset, account, media_library_id)}
       INSERT INTO analyses (id, media_asset_id, account_id, analyser, heuristic, technical, created_at)
       VALUES ('${analysis}', '${asset}', '${account}', 'look-1', true,
         '{"bitrate_kbps":null,"decode":"none","decoded_frames":0}', now())`,
    );
    const body = { ad_library_id, media_asset_id: asset };
    made.ad.push((await owner.call(createAd, { body })).body.id);
    made.mlb.push(media_library_id);
    made.asl.push(ad_library_id);
    made.mda.push(asset);
  }
  return made;
}

/** Submits the form with the test card that succeeds. */
async function fill(page: string): Promise<void> {
  const body = new URLSearchParams({ action: 'use:succeeds' });
  await (await fetch(page, { method: 'POST', body, redirect: 'manual' })).arrayBuffer();
}
