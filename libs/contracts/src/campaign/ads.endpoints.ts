import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { among, fixed, nameQuery } from '../organization/common.ts';
import { unchangeable } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { Ad, AdChange, AdProfile, NewAd, NewAdProfile } from './ads.resources.ts';

const service = 'campaign';
const access = { credential: 'any' } as const;
const adId = z.object({ id: id('ad') });

export const listAds = endpoint({
  operation: 'list_ads',
  method: 'GET',
  path: '/v2/ads',
  service,
  summary: 'Ads',
  access,
  query: z.object({
    ...pageQuery,
    ad_library_ids: among('ad_library', 'ads of these libraries'),
    media_asset_ids: among('media_asset', 'ads that are made of these assets'),
    query: nameQuery,
  }),
  turns: 'page',
  success: { status: 200, description: 'A page of ads, newest first', body: Page(Ad) },
});

export const createAd = endpoint({
  operation: 'create_ad',
  method: 'POST',
  path: '/v2/ads',
  service,
  summary: 'Make an ad of an asset that is ready',
  access,
  body: NewAd,
  idempotent: true,
  success: { status: 201, description: 'The ad', body: Ad },
  problems: ['unprocessable'],
});

export const getAd = endpoint({
  operation: 'get_ad',
  method: 'GET',
  path: '/v2/ads/{id}',
  service,
  summary: 'An ad',
  access,
  params: adId,
  success: { status: 200, description: 'The ad', body: Ad },
});

export const updateAd = endpoint({
  operation: 'update_ad',
  method: 'PATCH',
  path: '/v2/ads/{id}',
  service,
  summary: 'Change an ad',
  description: 'It changes drafts, and what is published later. What is published stays as it was.',
  access,
  params: adId,
  body: AdChange.extend(fixed)
    .extend(
      unchangeable(
        'account_id',
        'media_asset_id',
        'kind',
        'width',
        'height',
        'profile_id',
        'campaign_count',
        'poster_url',
        'created_by',
      ),
    )
    .meta({ id: 'AdChange', example: { duration_ms: 12_000, fit: 'cover' } }),
  success: { status: 200, description: 'The ad', body: Ad },
  problems: ['unprocessable'],
});

export const deleteAd = endpoint({
  operation: 'delete_ad',
  method: 'DELETE',
  path: '/v2/ads/{id}',
  service,
  summary: 'Delete an ad that no campaign needs',
  description: 'One that is in a campaign that is not archived cannot be deleted.',
  access,
  params: adId,
  success: { status: 204, description: 'Deleted' },
  problems: ['conflict'],
});

export const getAdProfile = endpoint({
  operation: 'get_ad_profile',
  method: 'GET',
  path: '/v2/ads/{id}/profile',
  service,
  summary: "An ad's profile",
  access,
  params: adId,
  success: { status: 200, description: 'The profile', body: AdProfile },
});

export const replaceAdProfile = endpoint({
  operation: 'replace_ad_profile',
  method: 'PUT',
  path: '/v2/ads/{id}/profile',
  service,
  summary: "Make or replace an ad's profile",
  description: 'As a whole: what is left out gets its default.',
  access,
  params: adId,
  body: NewAdProfile,
  success: { status: 200, description: 'The profile', body: AdProfile },
});

export const deleteAdProfile = endpoint({
  operation: 'delete_ad_profile',
  method: 'DELETE',
  path: '/v2/ads/{id}/profile',
  service,
  summary: "Delete an ad's profile",
  access,
  params: adId,
  success: { status: 204, description: 'Deleted' },
});
