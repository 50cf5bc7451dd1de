import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  createCampaign,
  createCheckoutSession,
  createClient,
  createGroup,
  createLocation,
  createScreen,
  createZone,
  deleteGroup,
  deleteScreen,
  login,
  type Session,
  signup,
  updateCampaign,
  updateGroup,
  updateLocation,
  updateScreen,
  updateZone,
  verifyEmail,
} from '@attribution/contracts';
import type { z } from 'zod';
import type { Chance } from '../../random.ts';
import type { Change, Checkout, Ledger, Purchase, SignUp, Step, Thing, ThingKind } from './ledger.ts';
import type { MailFolder } from './mail-folder.ts';
import { ask, insist, pay, type Told } from './requests.ts';

export interface PersonOptions {
  readonly baseUrl: string;
  readonly mail: MailFolder;
  readonly ledger: Ledger;
  readonly chance: Chance;
  /** No two people of a load have the same. */
  readonly number: number;
  readonly goesOn: () => boolean;
}

const password = 'a long walk at dawn';
/** Milliseconds that somebody waits for a code. */
const codeWithin = 5_000;

/**
 * Somebody signs up, verifies, and makes and changes things in two windows at once: two writers of one event key; in
 * others tokens are bought, and things asked for until there is an answer. In the end a login.
 */
export async function livePerson(options: PersonOptions): Promise<void> {
  const { ledger, number, goesOn } = options;
  // Limits count by address.
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  const anyone = createClient({ baseUrl: options.baseUrl, headers: { 'x-forwarded-for': address } });
  const signUp: SignUp = {
    email: `person-${number}@example.com`,
    name: `Person ${number}`,
    outcome: 'unknown',
    sessions: 0,
  };
  ledger.signUps.push(signUp);
  const { email } = signUp;
  const told = await ask(ledger, anyone, signup, { body: { email, password, full_name: signUp.name } });
  signUp.outcome = told.outcome;
  if (told.outcome !== 'acknowledged') return;
  signUp.userId = told.body.user_id;
  signUp.accountId = told.body.account_id;

  const token = await enter(options, anyone, signUp);
  if (token === undefined || !goesOn()) return;
  const client = anyone.with({ token });
  await Promise.all([
    keepGroups(openWindow(options, client, signUp, 'a')),
    keepPlaces(openWindow(options, client, signUp, 'b')),
    buyTokens(options, client, signUp.accountId),
    keepCampaigns(openWindow(options, client, signUp, 'c')),
  ]);
  if (goesOn()) await logIn(options, anyone, signUp);
}

/** An access token, by the code or, when nobody can say whether the code is spent, by a login. */
async function enter(
  { ledger, mail, goesOn }: PersonOptions,
  anyone: Client,
  signUp: SignUp,
): Promise<string | undefined> {
  const { email } = signUp;
  const code = await mail.codeFor(email, codeWithin, goesOn);
  if (code === undefined) return undefined;
  const verified = await ask(ledger, anyone, verifyEmail, { body: { email, code } });
  if (verified.outcome === 'unknown') return logIn({ ledger }, anyone, signUp);
  if (verified.outcome !== 'acknowledged') return undefined;
  signUp.sessions++;
  return (verified.body as z.output<typeof Session>).access_token;
}

async function logIn(
  { ledger }: Pick<PersonOptions, 'ledger'>,
  anyone: Client,
  signUp: SignUp,
): Promise<string | undefined> {
  const told = await ask(ledger, anyone, login, { body: { email: signUp.email, password } });
  if (told.outcome !== 'acknowledged') return undefined;
  signUp.sessions++;
  return (told.body as z.output<typeof Session>).access_token;
}

/** One thing after the other, each after the answer to the one before. */
interface Window {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly chance: Chance;
  readonly goesOn: () => boolean;
  /** Asks for a new thing; undefined unless that was acknowledged. */
  create(kind: ThingKind, request: (asked: Asked) => Promise<Told<{ id: string }>>): Promise<Made | undefined>;
  /** Asks for a change of it. */
  change(
    thing: Thing,
    kind: 'updated' | 'deleted',
    request: (content: string) => Promise<Told<unknown>>,
  ): Promise<void>;
}
interface Asked {
  readonly name: string;
  readonly content: string;
}
type Made = Thing & { id: string };

function openWindow(options: PersonOptions, client: Client, signUp: SignUp, letter: string): Window {
  const { ledger, chance, number, goesOn } = options;
  const lane: Step[] = [];
  ledger.lanes.push(lane);
  let count = 0;

  async function note<Body>(thing: Thing, change: Change, request: Promise<Told<Body>>): Promise<Told<Body>> {
    thing.changes.push(change);
    const told = await request;
    change.outcome = told.outcome;
    if (told.outcome === 'acknowledged') lane.push({ thing, change });
    await sleep(chance.int(0, 15));
    return told;
  }

  return {
    client,
    ledger,
    chance,
    goesOn,
    async create(kind, request) {
      const name = `${kind} ${number}${letter}${++count}`;
      const thing: Thing = { kind, accountId: signUp.accountId ?? '', name, changes: [] };
      ledger.things.push(thing);
      const content = `${name}, as created`;
      const told = await note(thing, { kind: 'created', content, outcome: 'unknown' }, request({ name, content }));
      if (told.outcome !== 'acknowledged') return undefined;
      return Object.assign(thing, { id: told.body.id });
    },
    async change(thing, kind, request) {
      const content = `${thing.name}, change ${thing.changes.length}`;
      await note(thing, { kind, content, outcome: 'unknown' }, request(content));
    },
  };
}

/** Creates, changes and deletes groups. */
async function keepGroups(window: Window): Promise<void> {
  const { client, ledger, chance, goesOn } = window;
  const mine: Made[] = [];
  for (let left = chance.int(4, 12); left > 0 && goesOn(); left--) {
    const [choice, which] = [chance.share(), chance.share()];
    const at = Math.floor(which * mine.length);
    const group = mine[at];
    if (group === undefined || choice < 0.4) {
      const made = await window.create('group', ({ name, content }) =>
        ask(ledger, client, createGroup, { body: { name, description: content } }),
      );
      if (made) mine.push(made);
      continue;
    }
    const params = { id: group.id };
    if (choice < 0.8) {
      await window.change(group, 'updated', (description) =>
        ask(ledger, client, updateGroup, { params, body: { description } }),
      );
    } else {
      mine.splice(at, 1);
      await window.change(group, 'deleted', () => ask(ledger, client, deleteGroup, { params }));
    }
  }
}

/** Creates and changes campaigns, and a tree in a group of its own: locations, zones and screens; of these it deletes some. */
async function keepPlaces(window: Window): Promise<void> {
  const { client, ledger, chance, goesOn } = window;
  const group = await window.create('group', ({ name, content }) =>
    ask(ledger, client, createGroup, { body: { name, description: content } }),
  );
  if (group === undefined) return;
  const mine: Made[] = [];
  const last = (kind: ThingKind) => mine.findLast((thing) => thing.kind === kind)?.id;
  for (let left = chance.int(6, 16); left > 0 && goesOn(); left--) {
    const [choice, which] = [chance.share(), chance.share()];
    const at = Math.floor(which * mine.length);
    const thing = mine[at];
    if (thing === undefined || choice < 0.6) {
      const made = await makePlace(window, choice, { group: group.id, location: last('location'), zone: last('zone') });
      if (made) mine.push(made);
      continue;
    }
    const params = { id: thing.id };
    if (thing.kind === 'screen' && choice < 0.7) {
      mine.splice(at, 1);
      await window.change(thing, 'deleted', () => ask(ledger, client, deleteScreen, { params }));
      continue;
    }
    await window.change(thing, 'updated', (content) => {
      if (thing.kind === 'location') return ask(ledger, client, updateLocation, { params, body: { address: content } });
      if (thing.kind === 'zone') return ask(ledger, client, updateZone, { params, body: { external_id: content } });
      if (thing.kind === 'screen') return ask(ledger, client, updateScreen, { params, body: { external_id: content } });
      return ask(ledger, client, updateCampaign, { params, body: { description: content } });
    });
  }
}

interface Around {
  readonly group: string;
  readonly location: string | undefined;
  readonly zone: string | undefined;
}

/** By a share below 0.6: a campaign, or a place as deep as there is something to put it into. */
function makePlace({ client, ledger, create }: Window, choice: number, around: Around): Promise<Made | undefined> {
  const { group: group_id, location: location_id, zone: zone_id } = around;
  if (choice < 0.15)
    return create('campaign', ({ name, content }) =>
      ask(ledger, client, createCampaign, { body: { name, description: content } }),
    );
  if (location_id === undefined || choice < 0.25)
    return create('location', ({ name, content }) =>
      ask(ledger, client, createLocation, { body: { group_id, name, timezone: 'Europe/Zurich', address: content } }),
    );
  if (zone_id === undefined || choice < 0.4)
    return create('zone', ({ name, content }) =>
      ask(ledger, client, createZone, { body: { location_id, name, external_id: content } }),
    );
  return create('screen', ({ name, content }) =>
    ask(ledger, client, createScreen, {
      body: { zone_id, name, width_px: 1920, height_px: 1080, external_id: content },
    }),
  );
}

/** Campaigns, each made once, however often it has to be asked for. */
async function keepCampaigns({ client, ledger, chance, goesOn, create }: Window): Promise<void> {
  for (let left = chance.int(2, 5); left > 0 && goesOn(); left--)
    await create('campaign', ({ name, content }) =>
      insist(goesOn, (headers) =>
        ask(ledger, client, createCampaign, { headers, body: { name, description: content } }),
      ),
    );
}

/** Buys token packs, one after the other. */
async function buyTokens({ ledger, goesOn }: PersonOptions, client: Client, accountId: string): Promise<void> {
  for (let left = 2; left > 0 && goesOn(); left--) await buy({ ledger, goesOn }, client, accountId);
}

/** Asks for a page until it is there, and pays on it, once. */
export async function buy(
  { ledger, goesOn }: Pick<PersonOptions, 'ledger' | 'goesOn'>,
  client: Client,
  accountId: string,
): Promise<void> {
  const body = { mode: 'payment', plan_key: 'tokens_1000' } as const;
  const checkout: Checkout = { accountId, outcome: 'unknown' };
  ledger.checkouts.push(checkout);
  const told = await insist(goesOn, (headers) => ask(ledger, client, createCheckoutSession, { headers, body }));
  checkout.outcome = told.outcome;
  if (told.outcome !== 'acknowledged') return;
  const purchase: Purchase = { accountId, outcome: 'unknown' };
  ledger.purchases.push(purchase);
  purchase.outcome = await pay(ledger, told.body.url);
}
