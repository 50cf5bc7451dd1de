import { defineArea } from '../area.ts';
import * as ads from './ads.endpoints.ts';
import * as drafts from './drafts.endpoints.ts';
import * as campaign from './endpoints.ts';
import * as events from './events.ts';
import * as jobs from './jobs.endpoints.ts';
import * as libraries from './libraries.endpoints.ts';
import * as manifests from './manifest.endpoints.ts';
import * as manifestEvents from './manifest.events.ts';
import * as media from './media.endpoints.ts';
import * as publishing from './publishing.endpoints.ts';
import * as scores from './scores.endpoints.ts';
import * as sight from './sight.endpoints.ts';
import * as versions from './versions.endpoints.ts';

/** In the order of the API reference. */
export const area = defineArea({
  endpoints: [campaign, drafts, publishing, scores, libraries, media, ads, jobs],
  internalEndpoints: [manifests, versions, sight],
  events: [events, manifestEvents],
});
