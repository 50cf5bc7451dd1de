import { expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type Endpoint,
  endpoint,
  Problem,
  ProblemDetails,
  type ProblemKind,
  problemKindOf,
  problemKinds,
  problemsOf,
} from '../src/index.ts';

/** Spec §7, and `unavailable` for 503 (decision 5). */
const specified: [ProblemKind, number][] = [
  ['validation-error', 400],
  ['unauthorized', 401],
  ['insufficient-balance', 402],
  ['forbidden', 403],
  ['not-found', 404],
  ['conflict', 409],
  ['gone', 410],
  ['unprocessable', 422],
  ['rate-limited', 429],
  ['upstream-error', 502],
  ['unavailable', 503],
];

test('the kinds are those of the specification: no 405, no 413, no 500', () => {
  expect(Object.entries(problemKinds).map(([kind, { status }]) => [kind, status])).toEqual(specified);
});

test.each(specified)(
  '%s: the body has the type, a title of its own, status %i and the detail, and nothing else',
  (kind, status) => {
    const problem = new Problem(kind, 'It is so.');
    const body = problem.toJSON('https://problems.test');
    expect(body).toEqual({
      type: `https://problems.test/${kind}`,
      title: problemKinds[kind].title,
      status,
      detail: 'It is so.',
    });
    expect(problem.status).toBe(status);
    expect(ProblemDetails.parse(body)).toEqual(body);
    expect(problemKindOf(body)).toBe(kind);
    const sameTitle = Object.values(problemKinds).filter(({ title }) => title === body.title);
    expect(sameTitle).toHaveLength(1);
  },
);

test.each(specified)('%s is sent as application/problem+json, and only 401 with a challenge', (kind, status) => {
  const headers = new Problem(kind, '').toHeaders();
  expect(headers['content-type']).toBe('application/problem+json');
  expect(headers['www-authenticate']).toBe(status === 401 ? 'Bearer' : undefined);
});

test('a problem is sent with its headers', () => {
  const problem = new Problem('rate-limited', 'Too many.', { 'retry-after': '60' });
  expect(problem.toHeaders()).toEqual({ 'content-type': 'application/problem+json', 'retry-after': '60' });
});

test('the kind is the last segment of the type, whatever stands before it', () => {
  for (const type of ['https://a.test/errors/v1/gone', 'about:problems/gone', 'gone']) {
    expect(problemKindOf({ type, title: '', status: 410, detail: '' })).toBe('gone');
  }
});

test('two 404s are identical byte for byte', () => {
  const [one, other] = [Problem.notFound(), Problem.notFound()].map((problem) => JSON.stringify(problem.toJSON('b')));
  expect(one).toBe(other);
});

const bare = endpoint({
  operation: 'look',
  method: 'GET',
  path: '/v2/things',
  service: 'campaign',
  summary: '',
  access: { credential: 'none' },
  success: { status: 204, description: '' },
});

test.each<[string, Partial<Endpoint>, ProblemKind[]]>([
  ['nothing', {}, []],
  ['a body', { body: z.object({}) }, ['validation-error']],
  ['a file to take', { upload: { media: ['text/csv'], max_bytes: 1 } }, ['validation-error']],
  ['a query', { query: z.object({}) }, ['validation-error']],
  ['a token', { access: { credential: 'any' } }, ['unauthorized', 'forbidden']],
  ['the certificate of a device', { access: { credential: 'device' } }, ['unauthorized', 'forbidden']],
  ['the same, suspended or not', { access: { credential: 'device', even_suspended: true } }, ['unauthorized']],
  [
    'callers among the services',
    { access: { credential: 'internal', callers: ['billing'] } },
    ['unauthorized', 'forbidden'],
  ],
  ['parameters', { params: z.object({}) }, ['not-found']],
  ['a rate limit', { rate_limit: { window_seconds: 1, limit: 1, counts: 'requests' } }, ['rate-limited']],
])(
  'an endpoint with %s can respond with the problems that follow from it, and with 502 and 503',
  (_what, more, kinds) => {
    expect(problemsOf({ ...bare, ...more })).toEqual([...kinds, 'upstream-error', 'unavailable']);
  },
);

test('the problems of an endpoint are unique, and sorted by status', () => {
  const all = problemsOf({
    ...bare,
    access: { credential: 'person' },
    params: z.object({}),
    body: z.object({}),
    problems: ['unprocessable', 'insufficient-balance', 'conflict', 'forbidden'],
  });
  const statuses = [400, 401, 402, 403, 404, 409, 422, 502, 503];
  expect(all.map((kind) => problemKinds[kind].status)).toEqual(statuses);
});
