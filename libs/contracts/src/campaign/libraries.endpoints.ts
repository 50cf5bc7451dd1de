import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CommaSeparated, Text, unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { AdLibrary, LibraryChange, MediaLibrary, NewLibrary } from './media.resources.ts';

const service = 'campaign';
const access = { credential: 'any' } as const;

const namePart = Text(200).min(1).optional().meta({ description: 'Part of the name, in any letter case' });

/** The endpoints of a kind of library, which are the same for both kinds. */
function endpointsOf<const K extends 'media' | 'ad', L extends z.ZodObject>(kind: K, resource: L) {
  const path = `/v2/${kind}-libraries` as const;
  const params = z.object({ id: id(`${kind}_library`) });
  const title = `${kind === 'ad' ? 'An ad' : 'A media'} library`;
  const count = kind === 'ad' ? 'ad_count' : 'asset_count';
  const fixed = unchangeable('id', 'account_id', count, 'created_by', 'created_at', 'updated_at');
  return {
    list: endpoint({
      ...{ operation: `list_${kind}_libraries` as const, method: 'GET', path, service, access },
      summary: `${kind === 'ad' ? 'Ad' : 'Media'} libraries`,
      query: z.object({
        ...pageQuery,
        query: namePart,
        group_ids: CommaSeparated(id('group')).optional().meta({ description: 'Comma-joined ids: of these groups' }),
      }),
      success: { status: 200, description: 'A page of libraries, newest first', body: Page(resource) },
    }),
    create: endpoint({
      ...{ operation: `create_${kind}_library` as const, method: 'POST', path, service, access },
      summary: `Create ${title.toLowerCase()}`,
      body: NewLibrary,
      idempotent: true,
      success: { status: 201, description: 'The library', body: resource },
      problems: ['unprocessable'],
    }),
    get: endpoint({
      ...{ operation: `get_${kind}_library` as const, method: 'GET', path: `${path}/{id}`, service, access, params },
      summary: title,
      success: { status: 200, description: 'The library', body: resource },
    }),
    update: endpoint({
      ...{ operation: `update_${kind}_library` as const, method: 'PATCH', path: `${path}/{id}`, service, access },
      summary: `Change ${title.toLowerCase()}`,
      params,
      body: LibraryChange.extend(fixed).meta({
        id: kind === 'ad' ? 'AdLibraryChange' : 'MediaLibraryChange',
        example: { name: 'Autumn' },
      }),
      success: { status: 200, description: 'The library', body: resource },
      problems: ['unprocessable'],
    }),
    remove: endpoint({
      ...{ operation: `delete_${kind}_library` as const, method: 'DELETE', path: `${path}/{id}`, service, access },
      summary: `Delete ${title.toLowerCase()}`,
      params,
      success: { status: 204, description: 'Deleted; 409 while it is not empty' },
      problems: ['conflict'],
    }),
  };
}

const media = endpointsOf('media', MediaLibrary);
export const listMediaLibraries = media.list;
export const createMediaLibrary = media.create;
export const getMediaLibrary = media.get;
export const updateMediaLibrary = media.update;
export const deleteMediaLibrary = media.remove;

const ad = endpointsOf('ad', AdLibrary);
export const listAdLibraries = ad.list;
export const createAdLibrary = ad.create;
export const getAdLibrary = ad.get;
export const updateAdLibrary = ad.update;
export const deleteAdLibrary = ad.remove;
