import type { DeviceManifest } from '@attribution/contracts';
import { problemBase, startStandIn, testInternal } from '@attribution/testing';

const problems = { 404: 'not-found', 503: 'unavailable' } as const;

/** A stand-in for Campaign. It knows the manifests that a test has put into `manifests`, and `asked` has who asked for what. */
export async function startCampaign() {
  const state = { manifests: new Map<string, DeviceManifest>(), away: false, asked: [] as string[] };
  const { verify } = testInternal('campaign');
  const standIn = await startStandIn((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://campaign.test');
    const caller = verify(request.headers.authorization);
    state.asked.push(`${caller} ${pathname} for ${searchParams.get('account_id')}`);
    const manifest = state.manifests.get(pathname.split('/').at(-1) ?? '');
    if (manifest && !state.away) {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(manifest));
      return;
    }
    const status = state.away ? 503 : 404;
    const problem = { type: `${problemBase}/${problems[status]}`, title: 'A test', status, detail: 'A test.' };
    response.writeHead(status, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem));
  });
  return Object.assign(state, standIn);
}
export type Campaign = Awaited<ReturnType<typeof startCampaign>>;
