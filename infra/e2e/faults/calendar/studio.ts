import {
  addCampaignAd,
  archiveCampaign,
  createAd,
  createAdLibrary,
  createCampaign,
  discardCampaignDraft,
  getCampaignVersion,
  publishCampaign,
  reviseCampaign,
  setCampaignTarget,
  updateCampaign,
  validateCampaign,
} from '@attribution/contracts';
import { type Chance, eventually } from '@attribution/testing';
import { plainPicture, upload } from '../../upload.ts';
import { forEach } from '../day/chain.ts';
import { done } from '../done.ts';
import { type Estate, screenSize, tags } from './estate.ts';
import type { Ground } from './ground.ts';
import { tickMs } from './reading.ts';
import type { KnownScreen, LiveCampaign } from './rules.ts';

/** What the owner does with campaigns, at random, and what is live therefore. */
export interface Studio {
  readonly live: readonly LiveCampaign[];
  /** How often campaigns were published, revised and archived. */
  readonly changes: number;
  /** Publishes a campaign, revises one or archives one. */
  change(now: number): Promise<void>;
}

/** At least and at most so many are live at a time. */
const campaigns = { least: 5, most: 12 };
const dayMs = 86_400_000;
const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);

export async function openStudio({ owner }: Ground, estate: Estate, chance: Chance): Promise<Studio> {
  const { group, mediaLibrary, locations } = estate;
  const screens = estate.devices.flatMap((device) => device.screens);
  const ads = await newAds();
  const live = new Map<string, LiveCampaign>();
  let count = 0;

  async function newAds(): Promise<string[]> {
    const ad_library_id = (await done(owner.call(createAdLibrary, { body: { name: 'Spring' } }))).id;
    const made: string[] = [];
    for (let n = 0; n < 6; n++) {
      const bytes = plainPicture(screenSize.width_px, screenSize.height_px, n);
      const { id: media_asset_id } = await upload(owner, mediaLibrary, { filename: `${n}.png`, bytes });
      const ad = { ad_library_id, media_asset_id, duration_ms: chance.int(2, 20) * tickMs };
      made.push((await done(owner.call(createAd, { body: ad }))).id);
    }
    return made;
  }

  /** Bounds that begin, end, or include the coming days. */
  function drawDates(now: number) {
    const start = chance.share() < 0.3 ? undefined : now + chance.int(-2, 3) * dayMs;
    const end = chance.share() < 0.3 ? null : dayOf(Math.max(now, start ?? now) + chance.int(0, 4) * dayMs);
    return { start_date: start === undefined ? null : dayOf(start), end_date: end, priority: chance.int(0, 2) };
  }

  function drawTarget() {
    const some = (from: readonly string[]) => from.filter(() => chance.share() < 0.4);
    const group_ids = chance.share() < 0.5 ? [group] : [];
    const location_ids = group_ids.length > 0 ? [] : some(locations);
    const narrow = chance.share() < 0.3 ? [chance.pick(tags)] : [];
    const include = { group_ids, location_ids, tags: narrow };
    const exclude = { location_ids: chance.share() < 0.2 ? [chance.pick(locations)] : [] };
    return { include, exclude, holdout_percent: chance.pick([0, 0, 10, 30, 50, 90]) };
  }

  /** The rule of targets in plain words. */
  const reachOf =
    ({ include, exclude }: ReturnType<typeof drawTarget>) =>
    ({ location, tags: own }: KnownScreen) => {
      if (include.group_ids.length + include.location_ids.length + include.tags.length === 0) return false;
      const isAnywhere = include.group_ids.length + include.location_ids.length === 0;
      const isHere = isAnywhere || include.group_ids.length > 0 || include.location_ids.includes(location);
      const isTagged = include.tags.length === 0 || include.tags.some((tag) => own.includes(tag));
      return isHere && isTagged && !exclude.location_ids.includes(location);
    };

  /** Publishes a draft, unless it reaches no screen. */
  async function release(id: string, fields: Omit<LiveCampaign, 'id' | 'version' | 'published_at'>): Promise<boolean> {
    const params = { id };
    if (!screens.some((one) => fields.reaches(one) && fields.ads.some((ad) => one.tags.includes(ad.screen_tag))))
      return false;
    const { live_version } = await done(owner.call(publishCampaign, { params }));
    const version = String(live_version);
    const { published_at } = await done(owner.call(getCampaignVersion, { params: { id, version } }));
    live.set(id, { id, version: Number(version), published_at, ...fields });
    return true;
  }

  async function publish(now: number): Promise<void> {
    const [dates, target] = [drawDates(now), drawTarget()];
    const { id } = await done(owner.call(createCampaign, { body: { name: 'Spring', group_id: group, ...dates } }));
    const params = { id };
    await done(owner.call(setCampaignTarget, { params, body: target }));
    const added: LiveCampaign['ads'][number][] = [];
    for (const ad_id of ads.filter(() => chance.share() < 0.4)) {
      const body = { ad_id, screen_tag: chance.pick(tags), position: chance.int(0, 1) };
      const { id: adId, screen_tag, position } = await done(owner.call(addCampaignAd, { params, body }));
      added.push({ id: adId, screen_tag, position });
    }
    const { holdout_percent } = target;
    const fields = { ...dates, holdout_percent, reaches: reachOf(target), ads: added };
    if (!(await release(id, fields))) await done(owner.call(archiveCampaign, { params }));
  }

  async function revise(now: number, campaign: LiveCampaign): Promise<void> {
    const { id, priority, ads: kept } = campaign;
    const params = { id };
    await done(owner.call(reviseCampaign, { params }));
    // Another priority, so that something differs.
    const dates = { ...drawDates(now), priority: (priority + 1) % 3 };
    await done(owner.call(updateCampaign, { params, body: dates }));
    const target = drawTarget();
    await done(owner.call(setCampaignTarget, { params, body: target }));
    const { holdout_percent } = target;
    const fields = { ...dates, holdout_percent, reaches: reachOf(target), ads: kept };
    if (!(await release(id, fields))) await done(owner.call(discardCampaignDraft, { params }));
  }

  async function archive({ id }: LiveCampaign): Promise<void> {
    await done(owner.call(archiveCampaign, { params: { id } }));
    live.delete(id);
  }

  async function untilEstateIsKnown(): Promise<void> {
    const draft = { name: 'Estate', group_id: group };
    const { id } = await eventually(() => done(owner.call(createCampaign, { body: draft })));
    const params = { id };
    await done(owner.call(setCampaignTarget, { params, body: { include: { group_ids: [group] } } }));
    const [ad_id = ''] = ads;
    for (const screen_tag of tags) await done(owner.call(addCampaignAd, { params, body: { ad_id, screen_tag } }));
    await eventually(async () => {
      const { matched_screens } = await done(owner.call(validateCampaign, { params }));
      if (matched_screens !== screens.length) throw new Error(`${matched_screens} screens are known`);
    }, 120_000);
    await done(owner.call(archiveCampaign, { params }));
    const isInstalled = async ({ client }: (typeof estate.devices)[number]) => {
      if (!(await client.manifest())?.location_id) throw new Error('The installation is not known');
    };
    await forEach(estate.devices, (device) => eventually(() => isInstalled(device), 120_000));
  }

  await untilEstateIsKnown();
  return {
    get live() {
      return [...live.values()];
    },
    get changes() {
      return count;
    },
    async change(now) {
      count++;
      const share = chance.share();
      const any = live.size > 0 ? chance.pick([...live.values()]) : undefined;
      if (!any || live.size < campaigns.least || (share < 0.4 && live.size < campaigns.most)) return publish(now);
      return share < 0.7 ? revise(now, any) : archive(any);
    },
  };
}
