import { getCampaignVersion, listCampaignVersions, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import { seesCampaign } from '../campaigns/index.ts';
import type { Dependencies } from './dependencies.ts';
import { findVersion, findVersions, type VersionRow } from './version.store.ts';
import { viewVersion, viewVersionDetail } from './version.view.ts';

export const listVersionsEndpoint = ({ database: { sql } }: Dependencies) =>
  implement(listCampaignVersions, async ({ params, query, caller }) => {
    const scope = cursorScope(`${listCampaignVersions.operation} ${params.id}`, query);
    const [before] = readCursor(query.cursor, scope, ['integer']) ?? [];
    if (!(await seesCampaign(sql, caller, params.id))) throw Problem.notFound();
    const found = await findVersions(sql, params.id, { limit: query.limit + 1, before });
    const position = ({ version }: VersionRow) => [version];
    return cutPage(found, { limit: query.limit, scope, position, view: viewVersion });
  });

export const getVersionEndpoint = ({ database: { sql } }: Dependencies) =>
  implement(getCampaignVersion, async ({ params, caller }) => {
    const seen = await seesCampaign(sql, caller, params.id);
    const version = seen && (await findVersion(sql, params.id, params.version));
    if (!version) throw Problem.notFound();
    return viewVersionDetail(version);
  });
