import { json } from 'node:stream/consumers';
import type { EstatePage, findCampaignsInSight, Input, PublishedVersion } from '@attribution/contracts';
import { problemBase, startStandIn } from '@attribution/testing';
import type { z } from 'zod';

type Estate = z.output<typeof EstatePage>;
const nothing: Estate = { groups: [], locations: [], zones: [], screens: [], installations: [], cameras: [] };

type SightQuestion = Input<typeof findCampaignsInSight>['body'];

/**
 * A stand-in for Organization and Campaign. When asked, it knows what a test has put into `estate` and `versions`, and what
 * `sees` says; its snapshots are empty. `asked` has the paths of the questions.
 */
export async function startOwners() {
  const state = {
    estate: {} as Partial<Estate>,
    versions: [] as z.output<typeof PublishedVersion>[],
    /** Which campaigns a caller sees; by default all. */
    sees: ({ ids }: SightQuestion): readonly string[] => ids,
    away: false,
    asked: [] as string[],
  };
  const standIn = await startStandIn(async (request, response) => {
    const question = request.method === 'POST' ? ((await json(request)) as SightQuestion) : undefined;
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://owners');
    const answers: Readonly<Record<string, () => object>> = {
      '/internal/v2/estate-snapshot': () => ({ ...nothing, next_cursor: null }),
      '/internal/v2/estate': () => ({ ...nothing, ...state.estate }),
      '/internal/v2/campaign-versions': () => ({
        entries: searchParams.has('campaign_ad_ids') ? state.versions : [],
        next_cursor: null,
      }),
      '/internal/v2/campaigns/in-sight': () => ({ ids: question ? state.sees(question) : [] }),
    };
    const isQuestion = question !== undefined || searchParams.has('account_id');
    if (isQuestion) state.asked.push(pathname);
    if (state.away && isQuestion) {
      const problem = { type: `${problemBase}/unavailable`, title: 'A test', status: 503, detail: 'A test.' };
      response.writeHead(503, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
      return;
    }
    const body = JSON.stringify(answers[pathname]?.() ?? {});
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  return Object.assign(state, standIn);
}
export type Owners = Awaited<ReturnType<typeof startOwners>>;
