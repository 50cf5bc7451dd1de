import * as contracts from '@attribution/contracts';
import { type Client, createTokenHold, type Endpoint, type IdKind } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { readyAsset } from '../ready-asset.ts';
import type { Answer, ResponsesByStatus } from './every-status-billing.ts';
import { calling, type Input } from './every-status-calls.ts';
import { newOwner, type TestPlatform } from './support.ts';

interface People {
  readonly platform: () => TestPlatform;
  readonly owner: () => { readonly client: Client; readonly account_id: string };
  /** Has no access to this service. */
  readonly visitor: () => Client;
}

type Cases = Readonly<Record<number, () => Answer>>;

/** For the endpoints of campaigns, media, ads and jobs. */
export function ofCampaign({ platform, owner: whoOwns, visitor }: People): ResponsesByStatus {
  const owner = () => whoOwns().client;
  const nobody = () => platform().client;
  const unknown = (kind: IdKind, more: object = {}) => ({ params: { id: newId(kind), ...more } });
  const group_id = newId('group');

  let shared: ReturnType<typeof newStudio> | undefined;
  const studio = () => (shared ??= newStudio(whoOwns()));

  /** An ad of a picture, each in a library, in a draft and in an archived campaign; a file that was promised; a draft without ads. */
  async function newStudio({ client, account_id }: ReturnType<People['owner']>) {
    const made = async (endpoint: Endpoint, body: object, params: object = {}) =>
      ((await client.call(endpoint, { body, params } as never)).body as unknown as { readonly id: string }).id;
    const media_library_id = await made(contracts.createMediaLibrary, { name: 'Pictures' });
    const ad_library_id = await made(contracts.createAdLibrary, { name: 'Ads' });
    const asset = newId('media_asset');
    await platform().rows('campaign', readyAsset(asset, account_id, media_library_id));
    const ad = await made(contracts.createAd, { ad_library_id, media_asset_id: asset });
    const place = { ad_id: ad, screen_tag: 'entrance' };
    const draft = await made(contracts.createCampaign, { name: 'Draft' });
    await made(contracts.addCampaignAd, place, { id: draft });
    const empty = await made(contracts.createCampaign, { name: 'Without ads' });
    const archived = await made(contracts.createCampaign, { name: 'Archived' });
    const archivedAd = await made(contracts.addCampaignAd, place, { id: archived });
    await client.call(contracts.archiveCampaign, { params: { id: archived } });
    const promised = { media_library_id, filename: 'summer.png', size_bytes: 3 };
    const upload = (await client.call(contracts.createMediaAsset, { body: promised })).body;
    return { media_library_id, ad_library_id, asset, ad, place, draft, empty, archived, archivedAd, promised, upload };
  }
  type Studio = Awaited<ReturnType<typeof newStudio>>;

  /** A call by the owner about what is in the studio. */
  const about = (endpoint: Endpoint, input: (studio: Studio) => Input) =>
    calling(endpoint)(owner, async () => input(await studio()));
  const onArchived = (endpoint: Endpoint, body: object = {}) =>
    about(endpoint, ({ archived, archivedAd }) => ({ params: { id: archived, campaign_ad_id: archivedAd }, body }));

  /** A call with an Idempotency-Key that was used for another one. */
  const repeated = (endpoint: Endpoint, body: (name: string, studio: Studio) => object) => async () => {
    const send = (name: string) =>
      about(endpoint, (made) => ({ headers: { 'idempotency-key': endpoint.operation }, body: body(name, made) }))();
    await send('one');
    return send('two');
  };

  /** The cases that follow from the contract alone, and those that do not. The input is valid but for its unknown ids. */
  function entry(endpoint: Endpoint, input: Input = {}, more: Cases = {}): [string, Cases] {
    const call = calling(endpoint);
    const refused = {
      ...(endpoint.query && { query: { limit: 0 } }),
      ...(endpoint.body && { body: [] }),
      ...(endpoint.idempotent && !endpoint.body && { headers: { 'idempotency-key': 'two words' } }),
    };
    const cases = {
      ...(Object.keys(refused).length > 0 && { 400: call(owner, { ...input, ...refused }) }),
      401: call(nobody, input),
      403: call(visitor, input),
      ...(input.params && { 404: call(owner, input) }),
    };
    return [endpoint.operation, { ...cases, ...more }];
  }

  type Libraries = Readonly<Record<'list' | 'create' | 'get' | 'update' | 'remove', Endpoint>>;
  function ofLibraries(kind: 'media' | 'ad', { list, create, get, update, remove }: Libraries) {
    const params = (made: Studio) => ({ id: made[`${kind}_library_id`] });
    const one = unknown(`${kind}_library`);
    return [
      entry(list),
      entry(
        create,
        { body: { name: 'One' } },
        {
          409: repeated(create, (name) => ({ name })),
          422: calling(create)(owner, { body: { name: 'One', group_id } }),
        },
      ),
      entry(get, one),
      entry(
        update,
        { ...one, body: {} },
        { 422: about(update, (made) => ({ params: params(made), body: { group_id } })) },
      ),
      entry(remove, one, { 409: about(remove, (made) => ({ params: params(made) })) }),
    ];
  }

  const ofMedia = () => {
    const { createMediaAsset, completeMediaAsset, deleteMediaAsset, renewMediaUpload } = contracts;
    const one = unknown('media_asset');
    const file = { media_library_id: newId('media_library'), filename: 'a.png', size_bytes: 1 };
    const onReady = (endpoint: Endpoint) => about(endpoint, ({ asset }) => ({ params: { id: asset }, body: {} }));
    return [
      entry(contracts.listMediaAssets),
      entry(
        createMediaAsset,
        { body: file },
        {
          409: repeated(createMediaAsset, (name, { promised }) => ({ ...promised, filename: `${name}.png` })),
          422: calling(createMediaAsset)(owner, { body: file }),
        },
      ),
      entry(contracts.getMediaAsset, one),
      entry(deleteMediaAsset, one, { 409: onReady(deleteMediaAsset) }),
      entry(renewMediaUpload, one, { 409: onReady(renewMediaUpload) }),
      entry(completeMediaAsset, { ...one, body: {} }, { 409: onReady(completeMediaAsset) }),
      entry(contracts.getMediaAnalysis, one),
    ];
  };

  const ticketOf = (url: string | null) => ({ ticket: new URL(url ?? '').searchParams.get('ticket') ?? '' });
  const forged = { ticket: 'forged' };

  /** Signed URLs, which need no token. */
  const ofBytes: ResponsesByStatus = {
    receive_media_upload: {
      400: calling(contracts.receiveMediaUpload)(nobody),
      403: calling(contracts.receiveMediaUpload)(nobody, { query: forged }),
      409: async () => {
        const { upload_url } = (await studio()).upload;
        await fetch(upload_url, { method: 'PUT', body: 'png' });
        return calling(contracts.receiveMediaUpload)(nobody, { query: ticketOf(upload_url) })();
      },
    },
    send_media_file: {
      400: calling(contracts.sendMediaFile)(nobody),
      403: calling(contracts.sendMediaFile)(nobody, { query: forged }),
      // The store has no bytes of an asset that was only inserted.
      404: async () => {
        const { asset } = await studio();
        const { url } = (await owner().call(contracts.getMediaAsset, { params: { id: asset } })).body;
        return calling(contracts.sendMediaFile)(nobody, { query: ticketOf(url) })();
      },
    },
  };

  const ofAds = () => {
    const { createAd, updateAd, deleteAd } = contracts;
    const one = unknown('ad');
    const body = { ad_library_id: newId('ad_library'), media_asset_id: newId('media_asset') };
    return [
      entry(contracts.listAds),
      entry(
        createAd,
        { body },
        {
          409: about(createAd, ({ ad_library_id, upload }) => ({ body: { ad_library_id, media_asset_id: upload.id } })),
          422: calling(createAd)(owner, { body }),
        },
      ),
      entry(contracts.getAd, one),
      entry(
        updateAd,
        { ...one, body: {} },
        { 422: about(updateAd, ({ ad }) => ({ params: { id: ad }, body: { ad_library_id: newId('ad_library') } })) },
      ),
      entry(deleteAd, one, { 409: about(deleteAd, ({ ad }) => ({ params: { id: ad } })) }),
      entry(contracts.getAdProfile, one),
      entry(contracts.replaceAdProfile, { ...one, body: {} }),
      entry(contracts.deleteAdProfile, one),
    ];
  };

  const ofDrafts = () => {
    const { createCampaign, updateCampaign, setCampaignTarget, addCampaignAd, updateCampaignAd } = contracts;
    const one = unknown('campaign');
    const ofOne = unknown('campaign', { campaign_ad_id: newId('campaign_ad') });
    const onDraft = (endpoint: Endpoint, body: object) =>
      about(endpoint, ({ draft }) => ({ params: { id: draft }, body }));
    const place = { ad_id: newId('ad'), screen_tag: 'entrance' };
    return [
      entry(contracts.listCampaigns),
      entry(
        createCampaign,
        { body: { name: 'One' } },
        {
          409: repeated(createCampaign, (name) => ({ name })),
          422: calling(createCampaign)(owner, { body: { name: 'One', group_id } }),
        },
      ),
      entry(contracts.getCampaign, one),
      entry(
        updateCampaign,
        { ...one, body: {} },
        { 409: onArchived(updateCampaign), 422: onDraft(updateCampaign, { group_id }) },
      ),
      entry(
        setCampaignTarget,
        { ...one, body: {} },
        {
          409: onArchived(setCampaignTarget),
          422: onDraft(setCampaignTarget, { include: { group_ids: [group_id] } }),
        },
      ),
      entry(
        addCampaignAd,
        { ...one, body: place },
        { 409: onArchived(addCampaignAd, place), 422: onDraft(addCampaignAd, place) },
      ),
      entry(updateCampaignAd, { ...ofOne, body: {} }, { 409: onArchived(updateCampaignAd) }),
      entry(contracts.removeCampaignAd, ofOne, { 409: onArchived(contracts.removeCampaignAd) }),
      entry(contracts.validateCampaign, one, { 409: onArchived(contracts.validateCampaign) }),
    ];
  };

  /** Scoring by an owner whose tokens are all held for something else. */
  async function scoreWithoutTokens() {
    const { client, account_id } = await newOwner(platform());
    const { available } = (await client.call(contracts.getBalance, { params: { id: account_id } })).body;
    const hold = { account_id, amount: available, idempotency_key: 'all', description: 'All', expires_in: '1h' };
    await platform().inside('account', 'campaign').call(createTokenHold, { body: hold });
    const { draft } = await newStudio({ client, account_id });
    return client.call(contracts.scoreCampaign, { params: { id: draft } });
  }

  const ofPublishing = () => {
    const { publishCampaign, reviseCampaign, discardCampaignDraft, archiveCampaign, scoreCampaign } = contracts;
    const one = unknown('campaign');
    const onEmpty = (endpoint: Endpoint) => about(endpoint, ({ empty }) => ({ params: { id: empty } }));
    return [
      entry(publishCampaign, one, { 409: onArchived(publishCampaign), 422: onEmpty(publishCampaign) }),
      entry(reviseCampaign, one, { 409: onEmpty(reviseCampaign) }),
      entry(discardCampaignDraft, one, { 409: onEmpty(discardCampaignDraft) }),
      entry(archiveCampaign, one, { 409: onArchived(archiveCampaign) }),
      entry(contracts.listCampaignVersions, one),
      entry(contracts.getCampaignVersion, unknown('campaign', { version: '1' })),
      entry(contracts.listCampaignPlacements, one),
      entry(contracts.listCampaignScores, one),
      entry(scoreCampaign, one, {
        402: scoreWithoutTokens,
        409: onArchived(scoreCampaign),
        422: onEmpty(scoreCampaign),
      }),
    ];
  };

  return {
    ...Object.fromEntries([
      ...ofDrafts(),
      ...ofPublishing(),
      ...ofLibraries('media', {
        list: contracts.listMediaLibraries,
        create: contracts.createMediaLibrary,
        get: contracts.getMediaLibrary,
        update: contracts.updateMediaLibrary,
        remove: contracts.deleteMediaLibrary,
      }),
      ...ofLibraries('ad', {
        list: contracts.listAdLibraries,
        create: contracts.createAdLibrary,
        get: contracts.getAdLibrary,
        update: contracts.updateAdLibrary,
        remove: contracts.deleteAdLibrary,
      }),
      ...ofMedia(),
      ...ofAds(),
      entry(contracts.getJob, unknown('job')),
    ]),
    ...ofBytes,
  };
}
