import { randomUUID } from 'node:crypto';
import {
  createGroup,
  createLocation,
  createScreen,
  createZone,
  publishCampaign,
  setCampaignTarget,
  validateCampaign,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { rowsOf } from '../crash/check/databases.ts';
import { newDraft } from '../scoring/draft.ts';
import { compared, type Flow } from './flow.ts';

const screens = 3;
const wanted = { status: 'published', live_version: 1, versions: '1 live', ads: 1, placements: screens, live: screens };

/** A campaign is published to three screens. */
export const publishing: Flow = {
  name: 'publishing',
  whole: `one version, ${screens} placements`,
  steps: [
    { name: 'before the placements are written', before: 'insert into placements' },
    { name: 'after the placements are written', after: 'insert into placements' },
    { name: 'before the version is written', before: 'insert into campaign_versions' },
    { name: 'after the version is written', after: 'insert into campaign_versions' },
    { name: 'before its ads are written', before: 'insert into live_ads' },
    { name: 'before the campaign is changed', before: 'update campaigns' },
    { name: 'before the events are appended', before: 'insert into outbox' },
    { name: 'after the events are appended, before the commit', after: 'insert into outbox' },
    { name: 'after the version is committed', committed: 'insert into campaign_versions' },
  ],
  async prepare({ databases, newOwner }) {
    const { account, owner } = await newOwner();
    const group_id = (await owner.call(createGroup, { body: { name: 'Zurich' } })).body.id;
    const shop = { group_id, name: 'Bahnhofstrasse', timezone: 'Europe/Zurich' };
    const location_id = (await owner.call(createLocation, { body: shop })).body.id;
    const zone_id = (await owner.call(createZone, { body: { location_id, name: 'Window' } })).body.id;
    for (let n = 1; n <= screens; n++) {
      const body = { zone_id, name: `Window ${n}`, width_px: 1920, height_px: 1080, tags: ['window'] };
      await owner.call(createScreen, { body });
    }
    const id = await newDraft(owner, account, databases);
    const params = { id };
    await owner.call(setCampaignTarget, { params, body: { include: { tags: ['window'] } } });
    await eventually(async () => {
      const { matched_screens } = (await owner.call(validateCampaign, { params })).body;
      if (matched_screens !== screens) throw new Error(`${matched_screens} screens are known`);
    }, 30_000);
    const headers = { 'idempotency-key': randomUUID() };
    return {
      async ask() {
        return (await owner.call(publishCampaign, { params, headers })).status === 200;
      },
      async look() {
        const of = (table: string) => `FROM ${table} WHERE campaign_id = '${id}'`;
        const [found] = await rowsOf<typeof wanted>(
          databases.campaign ?? '',
          `SELECT status, live_version,
             (SELECT string_agg(version || ' ' || status, ', ') ${of('campaign_versions')}) AS versions,
             (SELECT count(*)::int ${of('live_ads')}) AS ads,
             (SELECT count(*)::int ${of('placements')}) AS placements,
             (SELECT count(*)::int ${of('placements')} AND valid_to IS NULL) AS live
           FROM campaigns WHERE id = '${id}'`,
        );
        return compared(true, { ...found }, wanted);
      },
    };
  },
};
