import {
  createCampaign,
  findCampaignsInSight,
  getCampaign,
  groupCreated,
  groupUpdated,
  listCampaigns,
  updateCampaign,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { internalToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { groupState, newTenant, startCampaign } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

type Caller = ReturnType<typeof newTenant>['owner'];
const create = (caller: Caller, body: object = {}) => caller.call(createCampaign, { body: { name: 'New', ...body } });
const move = (caller: Caller, id: string, group_id: string | null) =>
  caller.call(updateCampaign, { params: { id }, body: { group_id } });
const seenBy = async (caller: Caller) => (await caller.call(listCampaigns)).body.data.map(({ id }) => id);
const unknown = (id: string) => ({
  kind: 'unprocessable',
  detail: `body.group_id: there is no group ${id} in this account.`,
});

describe('the group of a new campaign', () => {
  test('201: is the given one, if the caller holds it or the whole account', async () => {
    const tenant = newTenant(service);
    const group = await tenant.group();
    const writing = { role: 'member', key: { type: 'api', readonly: false } } as const;
    const callers = [tenant.owner, tenant.as({ role: 'member' }), tenant.narrowed([await tenant.group(), group])];
    for (const caller of [...callers, tenant.key(writing), tenant.key({ ...writing, groups: { [group]: 'm' } })]) {
      expect((await create(caller, { group_id: group })).body.group_id).toBe(group);
    }
  });

  test('201: is none by default, but for a caller with exactly one group it is that group', async () => {
    const tenant = newTenant(service);
    const [one, two] = [await tenant.group(), await tenant.group()];
    const groupOf = async (caller: Caller, body?: object) => (await create(caller, body)).body.group_id;
    expect(await groupOf(tenant.owner)).toBeNull();
    expect(await groupOf(tenant.as({ group_scope: 'all' }))).toBeNull();
    expect(await groupOf(tenant.narrowed([one]))).toBe(one);
    expect(await groupOf(tenant.narrowed([one], { groups: { [one]: 'a', [two]: 'x' } }))).toBe(one);
    expect(await groupOf(tenant.narrowed([one, two]))).toBeNull();
    expect(await groupOf(tenant.narrowed([]))).toBeNull();
    expect(await groupOf(tenant.narrowed([one]), { group_id: null })).toBeNull();
  });

  test('422: must belong to the account, be known, and be held by the caller; nothing is created', async () => {
    const tenant = newTenant(service);
    const group = await tenant.group();
    const others = await newTenant(service).group();
    const notHeld = tenant.narrowed([await tenant.group()]);
    const nothing = tenant.as({ group_scope: 'selected', groups: 'unreadable' });
    const cases = [
      [tenant.owner, newId('group')],
      [tenant.owner, others],
      [notHeld, group],
      [nothing, group],
    ] as const;
    for (const [caller, id] of cases) {
      expect((await create(caller, { group_id: id })).problem).toMatchObject(unknown(id));
    }
    expect(await tenant.count()).toBe(0);
    expect(await tenant.events()).toEqual([]);
  });
});

describe('a change of group', () => {
  test('200: to a group of the caller, and to none', async () => {
    const tenant = newTenant(service);
    const [from, to] = [await tenant.group(), await tenant.group()];
    const { id } = await tenant.campaign({ group_id: from });
    expect((await move(tenant.narrowed([from, to]), id, to)).body.group_id).toBe(to);
    expect((await move(tenant.narrowed([to]), id, null)).problem).toMatchObject({
      kind: 'unprocessable',
      detail: 'body.group_id: must be one of your groups.',
    });
    expect((await move(tenant.owner, id, null)).body.group_id).toBeNull();
    expect((await move(tenant.narrowed([to]), id, to)).problem?.kind).toBe('not-found');
    expect((await move(tenant.owner, id, from)).body.group_id).toBe(from);
  });

  test('422: to a group that is unknown, of another account or not held by the caller changes nothing', async () => {
    const tenant = newTenant(service);
    const [from, to] = [await tenant.group(), await tenant.group()];
    const { id } = await tenant.campaign({ group_id: from });
    const others = await newTenant(service).group();
    const narrowed = tenant.narrowed([from]);
    for (const [caller, group] of [
      [tenant.owner, newId('group')],
      [tenant.owner, others],
      [narrowed, to],
    ] as const) {
      const body = { name: 'Changed', group_id: group };
      expect((await caller.call(updateCampaign, { params: { id }, body })).problem).toMatchObject(unknown(group));
    }
    expect((await tenant.owner.call(getCampaign, { params: { id } })).body).toMatchObject({
      name: 'A campaign',
      group_id: from,
    });
  });

  test('200: a campaign whose group was deleted can still be changed, and can repeat that group', async () => {
    const tenant = newTenant(service);
    const group = await tenant.group();
    const { id } = await tenant.campaign({ group_id: group });
    await tenant.deleteGroup(group);
    const body = { name: 'Changed', group_id: group };
    expect((await tenant.owner.call(updateCampaign, { params: { id }, body })).body).toMatchObject(body);
  });
});

describe('a narrowed caller', () => {
  test('sees the campaigns of its groups and those that it created, and no others', async () => {
    const tenant = newTenant(service);
    const [mine, theirs] = [await tenant.group(), await tenant.group()];
    const inMine = (await tenant.campaign({ group_id: mine })).id;
    const inTheirs = (await tenant.campaign({ group_id: theirs })).id;
    const ungrouped = (await tenant.campaign()).id;
    const sub = newId('user');
    const author = tenant.narrowed([mine, theirs], { sub });
    const own = (await create(author)).body.id;
    const ownInTheirs = (await create(author, { group_id: theirs })).body.id;

    const narrower = tenant.narrowed([mine], { sub });
    expect(await seenBy(narrower)).toEqual([ownInTheirs, own, inMine]);
    expect(await seenBy(tenant.narrowed([mine]))).toEqual([inMine]);
    expect(await seenBy(tenant.narrowed([]))).toEqual([]);
    expect(await seenBy(tenant.owner)).toEqual([ownInTheirs, own, ungrouped, inTheirs, inMine]);
    for (const id of [own, ownInTheirs, inMine]) {
      const changed = await narrower.call(updateCampaign, { params: { id }, body: { priority: 1 } });
      expect([changed.status, changed.body.priority]).toEqual([200, 1]);
      expect((await narrower.call(getCampaign, { params: { id } })).status).toBe(200);
    }
    for (const id of [inTheirs, ungrouped]) {
      expect((await narrower.call(getCampaign, { params: { id } })).problem?.kind).toBe('not-found');
    }
  });

  test('is shown the same campaigns by another service that asks, at once after they change', async () => {
    const tenant = newTenant(service);
    const [mine, theirs, stranger] = [await tenant.group(), await tenant.group(), newTenant(service)];
    const sub = newId('user');
    const own = (await create(tenant.narrowed([theirs], { sub }))).body.id;
    const inMine = (await tenant.campaign({ group_id: mine })).id;
    const ungrouped = (await tenant.campaign()).id;
    const elsewhere = (await stranger.campaign()).id;
    const events = service.client.with({ token: internalToken('events', 'campaign') });
    const ids = [own, inMine, ungrouped, elsewhere, newId('campaign'), 'x'];
    const inSight = async (group_ids: string[] | null, caller_id = newId('user')) => {
      const body = { account_id: tenant.account, caller_id, group_ids, ids };
      return (await events.call(findCampaignsInSight, { body })).body.ids.toSorted();
    };
    expect(await inSight(null)).toEqual((await seenBy(tenant.owner)).toSorted());
    expect(await inSight([mine], sub)).toEqual((await seenBy(tenant.narrowed([mine], { sub }))).toSorted());
    expect(await inSight([mine])).toEqual([inMine]);
    expect(await inSight([])).toEqual([]);
    await move(tenant.owner, inMine, theirs);
    expect([await inSight([mine]), await inSight([theirs])]).toEqual([[], [own, inMine].toSorted()]);
  });

  test('is narrowed as a key too, and owns the campaigns of that key', async () => {
    const tenant = newTenant(service);
    const group = await tenant.group();
    const narrow = { role: 'member', key: { type: 'api', readonly: false }, groups: { [group]: 'm' } } as const;
    const sub = newId('api_key');
    const own = (await create(tenant.key({ ...narrow, sub }), { group_id: null })).body.id;
    const inGroup = (await tenant.campaign({ group_id: group })).id;
    expect(await seenBy(tenant.key({ ...narrow, sub }))).toEqual([inGroup, own]);
    expect(await seenBy(tenant.key(narrow))).toEqual([inGroup]);
  });

  test('sees nothing of another account through the id of a group or an author there', async () => {
    const tenant = newTenant(service);
    const group = await tenant.group();
    const sub = newId('user');
    await create(tenant.as({ sub }), { group_id: group });
    expect(await seenBy(newTenant(service).narrowed([group], { sub }))).toEqual([]);
  });

  test.each([{ group_scope: 'selected' }, { groups: null }, { groups: [] }, { group_scope: 'some' }])(
    'whose claims cannot be read (%j) holds no group: it sees its own alone',
    async (claims) => {
      const tenant = newTenant(service);
      await tenant.campaign({ group_id: await tenant.group() });
      const caller = tenant.as({ sub: newId('user'), ...claims });
      expect(await seenBy(caller)).toEqual([]);
      const own = await create(caller);
      expect([own.status, own.body.group_id]).toEqual([201, null]);
      expect(await seenBy(caller)).toEqual([own.body.id]);
    },
  );
});

describe('events of Organization', () => {
  test('a group is valid from group.created to group.deleted; repeated and late events change nothing', async () => {
    const tenant = newTenant(service);
    const id = newId('group');
    expect((await create(tenant.owner, { group_id: id })).problem?.kind).toBe('unprocessable');
    const delivered = await service.deliver(groupCreated, groupState(id, tenant.account), tenant.account);
    const again = Array.from({ length: 20 }, () => service.redeliver(delivered, groupCreated.topic.name));
    await Promise.all(again);
    expect((await create(tenant.owner, { group_id: id })).status).toBe(201);
    await tenant.deleteGroup(id);
    await service.redeliver(delivered, groupCreated.topic.name);
    await service.deliver(groupUpdated, groupState(id, tenant.account, 2), tenant.account);
    expect((await create(tenant.owner, { group_id: id })).problem?.kind).toBe('unprocessable');
  });
});
