import { startStandIn, testInternal } from '@attribution/testing';

/** A stand-in for Utilities. `asked` records the caller and the path of each request. */
export async function startUtilities() {
  const state = { asked: [] as string[], answer: { status: 200, body: { timezone: 'Australia/Sydney' } as object } };
  const { verify } = testInternal('utilities');
  const standIn = await startStandIn((request, response) => {
    state.asked.push(`${verify(request.headers.authorization)} ${request.url}`);
    response.writeHead(state.answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(state.answer.body));
  });
  return Object.assign(state, standIn);
}
