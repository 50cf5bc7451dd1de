import * as contracts from '@attribution/contracts';
import type { StatementTable, TestService } from '@attribution/testing';
import { newTenant } from './support.ts';
import { here, newLastingTenant, newLibrary, plain, process, promise, put } from './support-media.ts';

const { listMediaLibraries, createMediaLibrary, getMediaLibrary, updateMediaLibrary, deleteMediaLibrary } = contracts;
const { listAdLibraries, createAdLibrary, getAdLibrary, updateAdLibrary, deleteAdLibrary } = contracts;

const png = plain().png().toBuffer();
const file = async () => ({ filename: 'a.png', bytes: await png });

/** The statements of libraries, media assets and jobs. */
export function statementsOfMedia(service: () => TestService): StatementTable {
  /** The numbers of both kinds of libraries. In a group: checking that it exists is one of the statements. */
  function ofLibraries(
    kind: 'media' | 'ad',
    endpoints: {
      list: typeof listMediaLibraries | typeof listAdLibraries;
      create: typeof createMediaLibrary | typeof createAdLibrary;
      get: typeof getMediaLibrary | typeof getAdLibrary;
      update: typeof updateMediaLibrary | typeof updateAdLibrary;
      remove: typeof deleteMediaLibrary | typeof deleteAdLibrary;
    },
  ): StatementTable {
    const { list, create, get, update, remove } = endpoints;
    const made = async () => {
      const tenant = newTenant(service());
      const { id } = (await tenant.owner.call(create, { body: { name: 'Spring' } })).body;
      return { ...tenant, params: { id } };
    };
    return {
      [`list_${kind}_libraries`]: {
        statements: 1,
        async prepare(rows) {
          const { owner } = newTenant(service());
          const body = { name: 'Spring' };
          await Promise.all(Array.from({ length: rows }, () => owner.call(create, { body })));
          return () => owner.call(list);
        },
      },
      [`create_${kind}_library`]: {
        statements: 5,
        async prepare() {
          const { owner, group } = newTenant(service());
          const body = { name: 'Spring', group_id: await group() };
          return () => owner.call(create, { body });
        },
      },
      [`get_${kind}_library`]: {
        statements: 1,
        async prepare() {
          const { owner, params } = await made();
          return () => owner.call(get, { params });
        },
      },
      [`update_${kind}_library`]: {
        statements: 6,
        async prepare() {
          const { owner, params, group } = await made();
          const body = { name: 'Autumn', group_id: await group() };
          return () => owner.call(update, { params, body });
        },
      },
      [`delete_${kind}_library`]: {
        statements: 5,
        async prepare() {
          const { owner, params } = await made();
          return () => owner.call(remove, { params });
        },
      },
    };
  }

  /** An asset that awaits its upload. */
  async function promised() {
    const { owner } = newLastingTenant(service());
    const asset = await promise(owner, await file());
    return { owner, asset, params: { id: asset.id } };
  }

  /** An asset that is ready: one for all that only read it. */
  let shared: ReturnType<typeof processed> | undefined;
  const ready = () => (shared ??= processed());
  async function processed() {
    const { owner } = newLastingTenant(service());
    const { asset, job } = await process(service(), owner, await file());
    return { owner, asset, params: { id: asset.id }, job: { id: job.id } };
  }

  const ofMedia: StatementTable = {
    list_media_assets: {
      statements: 1,
      async prepare(rows) {
        const { owner } = newTenant(service());
        const media_library_id = await newLibrary(owner);
        const body = { media_library_id, filename: 'a.png', size_bytes: 1 };
        await Promise.all(Array.from({ length: rows }, () => owner.call(contracts.createMediaAsset, { body })));
        return () => owner.call(contracts.listMediaAssets);
      },
    },
    create_media_asset: {
      statements: 6,
      async prepare() {
        const { owner } = newTenant(service());
        const body = { media_library_id: await newLibrary(owner), filename: 'a.png', size_bytes: 1 };
        return () => owner.call(contracts.createMediaAsset, { body });
      },
    },
    get_media_asset: {
      statements: 1,
      async prepare() {
        const { owner, params } = await ready();
        return () => owner.call(contracts.getMediaAsset, { params });
      },
    },
    delete_media_asset: {
      statements: 8,
      async prepare() {
        const { owner, params } = await promised();
        return () => owner.call(contracts.deleteMediaAsset, { params });
      },
    },
    renew_media_upload: {
      statements: 2,
      async prepare() {
        const { owner, params } = await promised();
        return () => owner.call(contracts.renewMediaUpload, { params });
      },
    },
    complete_media_asset: {
      statements: 7,
      async prepare() {
        const { owner, params, asset } = await promised();
        await put(service(), asset.upload_url, await png);
        return () => owner.call(contracts.completeMediaAsset, { params, body: {} });
      },
    },
    get_media_analysis: {
      statements: 2,
      async prepare() {
        const { owner, params } = await ready();
        return () => owner.call(contracts.getMediaAnalysis, { params });
      },
    },
    /** The object's row, the asset before and after the bytes, and its parts. */
    receive_media_upload: {
      statements: 9,
      async prepare() {
        const { asset } = await promised();
        const bytes = await png;
        return async () => {
          const { status } = await put(service(), asset.upload_url, bytes);
          return { status, body: undefined } as never;
        };
      },
    },
    send_media_file: {
      statements: 0,
      async prepare() {
        const { asset } = await ready();
        return async () => {
          const { status } = await fetch(here(service(), asset.url));
          return { status, body: undefined } as never;
        };
      },
    },
    get_job: {
      statements: 2,
      async prepare() {
        const { owner, job } = await ready();
        return () => owner.call(contracts.getJob, { params: job });
      },
    },
  };

  return {
    ...ofLibraries('media', {
      list: listMediaLibraries,
      create: createMediaLibrary,
      get: getMediaLibrary,
      update: updateMediaLibrary,
      remove: deleteMediaLibrary,
    }),
    ...ofLibraries('ad', {
      list: listAdLibraries,
      create: createAdLibrary,
      get: getAdLibrary,
      update: updateAdLibrary,
      remove: deleteAdLibrary,
    }),
    ...ofMedia,
  };
}
