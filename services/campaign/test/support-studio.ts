import { createHash } from 'node:crypto';
import { addCampaignAd, type Probe, setCampaignTarget } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import type { z } from 'zod';
import { newTenant } from './support.ts';
import { announce, newLocation, newScreen } from './support-estate.ts';

type ProbeFields = z.output<typeof Probe>;

export const stillImage: ProbeFields = {
  ...{ mime: 'image/png', width: 1920, height: 1080, rotation: 0, codec: 'png', audio: false },
  ...{ bit_depth: 8, chroma: null, colour: 'srgb', hdr: false },
};

export const clip: ProbeFields = {
  ...{ mime: 'video/mp4', width: 1920, height: 1080, rotation: 0, codec: 'h264', codec_string: 'avc1.640028' },
  ...{ duration_ms: 12_000, fps: 25, frames: 300, variable_frame_rate: false, audio: false },
  ...{ bit_depth: 8, chroma: '4:2:0', colour: 'bt709', hdr: false, fast_start: true },
};

const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');

interface AssetFields {
  readonly status?: 'ready' | 'processing';
  readonly probe?: Partial<ProbeFields>;
  readonly group_id?: string | null;
}

/** Inserts an asset as processing leaves it, in a library of its own; returns its id. */
export async function newAsset(
  service: TestService,
  account: string,
  { status = 'ready', probe, group_id = null }: AssetFields = {},
): Promise<string> {
  const [library, id] = [newId('media_library'), newId('media_asset')];
  const found = { ...(probe?.mime?.startsWith('video/') ? clip : stillImage), ...probe };
  await service.db.query(
    `INSERT INTO media_libraries (id, account_id, group_id, name, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, 'Pictures', 'usr_somebody', now(), now())`,
    [library, account, group_id],
  );
  await service.db.query(
    `INSERT INTO media_assets (id, account_id, media_library_id, filename, kind, status, size_bytes, mime_type, sha256, probe,
       content_key, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, 'spring.png', $4::text::"MediaKind", $5::text::"MediaAssetStatus", 48213, $6,
       $7, $8, $1, 'usr_somebody', now(), now())`,
    [id, account, library, found.mime.split('/')[0], status, found.mime, sha256Of(id), JSON.stringify(found)],
  );
  return id;
}

/** Inserts a library for ads; returns its id. */
export async function newAdLibrary(service: TestService, account: string, group_id: string | null = null) {
  const id = newId('ad_library');
  await service.db.query(
    `INSERT INTO ad_libraries (id, account_id, group_id, name, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, 'Ads', 'usr_somebody', now(), now())`,
    [id, account, group_id],
  );
  return id;
}

/** Inserts an ad of an asset of its own. */
export async function newAd(service: TestService, account: string, asset: AssetFields = {}) {
  const [library, media] = [
    await newAdLibrary(service, account, asset.group_id),
    await newAsset(service, account, asset),
  ];
  const ad = newId('ad');
  await service.db.query(
    `INSERT INTO ads (id, account_id, ad_library_id, media_asset_id, name, duration_ms, created_by, created_at, updated_at)
     VALUES ($1, $2, $3, $4, 'Spring', 10000, 'usr_somebody', now(), now())`,
    [ad, account, library, media],
  );
  return { ad, library, asset: media };
}

/** Many at once, as their first events would leave them. */
async function insertScreens(service: TestService, account: string, screens: readonly ReturnType<typeof newScreen>[]) {
  const rows = screens.map((screen) => ({ ...screen, account_id: account, aggregate_version: 0 }));
  await service.db.query(`INSERT INTO known_screens SELECT * FROM jsonb_populate_recordset(NULL::known_screens, $1)`, [
    JSON.stringify(rows),
  ]);
}

/** An account with an estate and ads, and how to add to them. */
export async function newStudio(service: TestService) {
  const tenant = newTenant(service);
  const { account, owner } = tenant;
  const announced = announce(service, account);
  const group = await tenant.group();

  async function location(fields: Parameters<typeof newLocation>[0] = {}) {
    const made = newLocation({ group_id: group, ...fields });
    await announced.location(made);
    return made;
  }
  async function screen(where: { id: string }, fields: Parameters<typeof newScreen>[1] = {}) {
    const made = newScreen(where, fields);
    await announced.screen(made);
    return made;
  }
  /** A draft with one ad for screens at the entrance. */
  async function campaign(fields: object, target: object) {
    const { id } = await tenant.campaign(fields);
    const params = { id };
    await owner.call(setCampaignTarget, { params, body: target });
    const { ad } = await newAd(service, account);
    const { body: campaignAd } = await owner.call(addCampaignAd, {
      params,
      body: { ad_id: ad, screen_tag: 'entrance' },
    });
    return { params, campaignAd };
  }

  return {
    ...{ tenant, account, owner, group, announce: announced, location, screen, campaign },
    /** A draft that reaches so many screens of one location. */
    async planned(count: number) {
      const where = await location();
      const screens = Array.from({ length: count }, () => newScreen(where));
      await insertScreens(service, account, screens);
      const made = await campaign({}, { include: { location_ids: [where.id] } });
      return { ...made, owner, account, location: where, screens };
    },
    /** Waits until the placements have followed the estate. */
    settled: () =>
      eventually(async () => {
        const { rows } = await service.db.query('SELECT FROM changed_screens WHERE account_id = $1', [account]);
        if (rows.length > 0) throw new Error('The placements have not followed yet');
      }),
  };
}
