import { isDeepStrictEqual } from 'node:util';
import { type LoadResult, load } from '../wrk.ts';

/** One of the requests that a load sends in turn. */
export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PATCH';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** Loads a server with the given requests in turn. */
export function loadWith(url: string, seconds: number, requests: readonly BenchRequest[]): Promise<LoadResult> {
  return load({ url, seconds, script: scriptOf(requests) });
}

/** A Lua script for wrk, which formats the requests once, when its thread starts. */
function scriptOf(requests: readonly BenchRequest[]): string {
  const lines = requests.map(({ method, path, headers, body }) => {
    const fields = { ...headers, ...(body && { 'content-type': 'application/json' }) };
    const table = Object.entries(fields).map(([name, value]) => `[${quoted(name)}] = ${quoted(value)}`);
    const text = body ? quoted(JSON.stringify(body)) : 'nil';
    return `  wrk.format(${quoted(method)}, ${quoted(path)}, { ${table.join(', ')} }, ${text}),`;
  });
  return [
    'local requests, next = {}, 0',
    'function init() requests = {',
    ...lines,
    '} end',
    'function request() next = next % #requests + 1; return requests[next] end',
  ].join('\n');
}

/** A Lua string: these texts contain only characters that Lua escapes as JSON does. */
const quoted = (text: string) => JSON.stringify(text);

/** Throws unless both servers respond alike, because they must do the same work. */
export async function requireSameAnswer(a: string, b: string, ofA: BenchRequest, ofB: BenchRequest): Promise<void> {
  const answers = await Promise.all([answer(a, ofA), answer(b, ofB)]);
  const [ours, others] = answers.map((one) => comparable(one, ofA.method));
  if (isDeepStrictEqual(ours, others)) return;
  const [first, second] = [ours, others].map((one) => JSON.stringify(one).slice(0, 1_000));
  throw new Error(`${ofA.method} ${ofA.path}: the responses differ:\n${first}\n${second}`);
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function answer(url: string, { method, path, headers, body }: BenchRequest): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: JSON.parse(await response.text(), withoutTimestamps) };
}

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Masks timestamps, which differ between the two databases. */
const withoutTimestamps = (_: string, value: unknown) =>
  typeof value === 'string' && timestamp.test(value) ? 'a timestamp' : value;

/** Removes what always differs: the sides have different cursors, and each created resource has a new id. */
function comparable({ status, body }: Answer, method: BenchRequest['method']): Answer {
  if (Array.isArray(body) || body === null || typeof body !== 'object') return { status, body };
  const own = method === 'POST' ? 'id' : 'next_cursor';
  return { status, body: Object.fromEntries(Object.entries(body).filter(([name]) => name !== own)) };
}
