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
import type { Chance } from '@attribution/testing';
import type { z } from 'zod';
import type {
  AcknowledgedChange,
  Change,
  Checkout,
  Ledger,
  Purchase,
  Resource,
  ResourceKind,
  SignUp,
} from './ledger.ts';
import type { MailFolder } from './mail-folder.ts';
import { pay, type Reply, retryUntilAnswered, send } from './requests.ts';

export interface PersonOptions {
  readonly baseUrl: string;
  readonly mail: MailFolder;
  readonly ledger: Ledger;
  readonly chance: Chance;
  /** Unique among the people of a load. */
  readonly number: number;
  readonly maxPauseMs: number;
  readonly isRunning: () => boolean;
}

const password = 'a long walk at dawn';
/** How long a person waits for the mailed code. */
const mailTimeoutMs = 5_000;

/**
 * A person signs up, verifies the address and then works in parallel: two writers create and change resources under the
 * same event key, a third creates campaigns under idempotency keys, and a fourth buys tokens. At the end the person logs in.
 */
export async function simulatePerson(options: PersonOptions): Promise<void> {
  const { ledger, number, isRunning } = options;
  // An address for each person, because rate limits count by address.
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
  const reply = await send(ledger, anyone, signup, { body: { email, password, full_name: signUp.name } });
  signUp.outcome = reply.outcome;
  if (reply.outcome !== 'acknowledged') return;
  signUp.userId = reply.body.user_id;
  signUp.accountId = reply.body.account_id;

  const token = await openSession(options, anyone, signUp);
  if (token === undefined || !isRunning()) return;
  const client = anyone.with({ token });
  await Promise.all([
    editGroups(createWriter(options, client, signUp, 'a')),
    editEstate(createWriter(options, client, signUp, 'b')),
    buyTokens(options, client, signUp.accountId),
    createCampaigns(createWriter(options, client, signUp, 'c')),
  ]);
  if (isRunning()) await logIn(options, anyone, signUp);
}

/** Returns an access token: by the code or, if it is unknown whether the code was used up, by a login. */
async function openSession(
  { ledger, mail, isRunning }: PersonOptions,
  anyone: Client,
  signUp: SignUp,
): Promise<string | undefined> {
  const { email } = signUp;
  const code = await mail.codeFor(email, mailTimeoutMs, isRunning);
  if (code === undefined) return undefined;
  const verified = await send(ledger, anyone, verifyEmail, { body: { email, code } });
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
  const reply = await send(ledger, anyone, login, { body: { email: signUp.email, password } });
  if (reply.outcome !== 'acknowledged') return undefined;
  signUp.sessions++;
  return (reply.body as z.output<typeof Session>).access_token;
}

/** Sends its requests one at a time, each after the answer to the one before. */
interface Writer {
  readonly client: Client;
  readonly ledger: Ledger;
  readonly chance: Chance;
  readonly isRunning: () => boolean;
  /** Requests a new resource; undefined unless that was acknowledged. */
  create(
    kind: ResourceKind,
    request: (fields: NewContent) => Promise<Reply<{ id: string }>>,
  ): Promise<CreatedResource | undefined>;
  /** Requests a change of the resource. */
  change(
    resource: Resource,
    kind: 'updated' | 'deleted',
    request: (content: string) => Promise<Reply<unknown>>,
  ): Promise<void>;
}
interface NewContent {
  readonly name: string;
  readonly content: string;
}
type CreatedResource = Resource & { id: string };

function createWriter(options: PersonOptions, client: Client, signUp: SignUp, letter: string): Writer {
  const { ledger, chance, number, maxPauseMs, isRunning } = options;
  const lane: AcknowledgedChange[] = [];
  ledger.lanes.push(lane);
  let count = 0;

  async function record<Body>(resource: Resource, change: Change, request: Promise<Reply<Body>>): Promise<Reply<Body>> {
    resource.changes.push(change);
    const reply = await request;
    change.outcome = reply.outcome;
    if (reply.outcome === 'acknowledged') lane.push({ resource, change });
    await sleep(chance.int(0, maxPauseMs));
    return reply;
  }

  return {
    client,
    ledger,
    chance,
    isRunning,
    async create(kind, request) {
      const name = `${kind} ${number}${letter}${++count}`;
      const resource: Resource = { kind, accountId: signUp.accountId ?? '', name, changes: [] };
      ledger.resources.push(resource);
      const content = `${name}, as created`;
      const reply = await record(
        resource,
        { kind: 'created', content, outcome: 'unknown' },
        request({ name, content }),
      );
      if (reply.outcome !== 'acknowledged') return undefined;
      return Object.assign(resource, { id: reply.body.id });
    },
    async change(resource, kind, request) {
      const content = `${resource.name}, change ${resource.changes.length}`;
      await record(resource, { kind, content, outcome: 'unknown' }, request(content));
    },
  };
}

/** Creates, changes and deletes groups. */
async function editGroups(writer: Writer): Promise<void> {
  const { client, ledger, chance, isRunning } = writer;
  const created: CreatedResource[] = [];
  for (let remaining = chance.int(4, 12); remaining > 0 && isRunning(); remaining--) {
    const [choice, position] = [chance.share(), chance.share()];
    const index = Math.floor(position * created.length);
    const group = created[index];
    if (group === undefined || choice < 0.4) {
      const added = await writer.create('group', ({ name, content }) =>
        send(ledger, client, createGroup, { body: { name, description: content } }),
      );
      if (added) created.push(added);
      continue;
    }
    const params = { id: group.id };
    if (choice < 0.8) {
      await writer.change(group, 'updated', (description) =>
        send(ledger, client, updateGroup, { params, body: { description } }),
      );
    } else {
      created.splice(index, 1);
      await writer.change(group, 'deleted', () => send(ledger, client, deleteGroup, { params }));
    }
  }
}

/** Creates and changes campaigns, and locations, zones and screens in a group of its own; deletes some of the screens. */
async function editEstate(writer: Writer): Promise<void> {
  const { client, ledger, chance, isRunning } = writer;
  const group = await writer.create('group', ({ name, content }) =>
    send(ledger, client, createGroup, { body: { name, description: content } }),
  );
  if (group === undefined) return;
  const created: CreatedResource[] = [];
  const last = (kind: ResourceKind) => created.findLast((resource) => resource.kind === kind)?.id;
  for (let remaining = chance.int(6, 16); remaining > 0 && isRunning(); remaining--) {
    const [choice, position] = [chance.share(), chance.share()];
    const index = Math.floor(position * created.length);
    const resource = created[index];
    if (resource === undefined || choice < 0.6) {
      const added = await createNext(writer, choice, {
        group: group.id,
        location: last('location'),
        zone: last('zone'),
      });
      if (added) created.push(added);
      continue;
    }
    const params = { id: resource.id };
    if (resource.kind === 'screen' && choice < 0.7) {
      created.splice(index, 1);
      await writer.change(resource, 'deleted', () => send(ledger, client, deleteScreen, { params }));
      continue;
    }
    await writer.change(resource, 'updated', (content) => {
      if (resource.kind === 'location')
        return send(ledger, client, updateLocation, { params, body: { address: content } });
      if (resource.kind === 'zone') return send(ledger, client, updateZone, { params, body: { external_id: content } });
      if (resource.kind === 'screen')
        return send(ledger, client, updateScreen, { params, body: { external_id: content } });
      return send(ledger, client, updateCampaign, { params, body: { description: content } });
    });
  }
}

interface Parents {
  readonly group: string;
  readonly location: string | undefined;
  readonly zone: string | undefined;
}

/** `choice` is below 0.6 and selects the kind: a campaign, or the deepest estate resource for which there is a parent. */
function createNext(
  { client, ledger, create }: Writer,
  choice: number,
  parents: Parents,
): Promise<CreatedResource | undefined> {
  const { group: group_id, location: location_id, zone: zone_id } = parents;
  if (choice < 0.15)
    return create('campaign', ({ name, content }) =>
      send(ledger, client, createCampaign, { body: { name, description: content } }),
    );
  if (location_id === undefined || choice < 0.25)
    return create('location', ({ name, content }) =>
      send(ledger, client, createLocation, { body: { group_id, name, timezone: 'Europe/Zurich', address: content } }),
    );
  if (zone_id === undefined || choice < 0.4)
    return create('zone', ({ name, content }) =>
      send(ledger, client, createZone, { body: { location_id, name, external_id: content } }),
    );
  return create('screen', ({ name, content }) =>
    send(ledger, client, createScreen, {
      body: { zone_id, name, width_px: 1920, height_px: 1080, external_id: content },
    }),
  );
}

/** Creates campaigns, each under one idempotency key however often the request has to be repeated. */
async function createCampaigns({ client, ledger, chance, isRunning, create }: Writer): Promise<void> {
  for (let remaining = chance.int(2, 5); remaining > 0 && isRunning(); remaining--)
    await create('campaign', ({ name, content }) =>
      retryUntilAnswered(isRunning, (headers) =>
        send(ledger, client, createCampaign, { headers, body: { name, description: content } }),
      ),
    );
}

/** Buys token packs, one after the other. */
async function buyTokens({ ledger, isRunning }: PersonOptions, client: Client, accountId: string): Promise<void> {
  for (let remaining = 2; remaining > 0 && isRunning(); remaining--)
    await buy({ ledger, isRunning }, client, accountId);
}

/** Requests a checkout page until there is an answer, and pays on it once. */
export async function buy(
  { ledger, isRunning }: Pick<PersonOptions, 'ledger' | 'isRunning'>,
  client: Client,
  accountId: string,
): Promise<void> {
  const body = { mode: 'payment', plan_key: 'tokens_1000' } as const;
  const checkout: Checkout = { accountId, outcome: 'unknown' };
  ledger.checkouts.push(checkout);
  const reply = await retryUntilAnswered(isRunning, (headers) =>
    send(ledger, client, createCheckoutSession, { headers, body }),
  );
  checkout.outcome = reply.outcome;
  if (reply.outcome !== 'acknowledged') return;
  const purchase: Purchase = { accountId, outcome: 'unknown' };
  ledger.purchases.push(purchase);
  purchase.outcome = await pay(ledger, reply.body.url);
}
