import { personToken } from '@attribution/testing';

/** A request that the upstream must receive. */
export interface Expected {
  readonly method: string;
  readonly body: string;
  /** Headers that must be present with these values, and headers that must be absent. */
  readonly with?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
}

/** Bytes sent on one connection, the requests that the upstream must receive, and the responses that the client must get. */
export interface SmugglingCase {
  readonly family: string;
  readonly name: string;
  /** In latin1. `CASE` is replaced by the case's id, and `tokenPlaceholder` by a token, which have the same lengths. */
  readonly bytes: string;
  /** The requests that must arrive completely, in this order, and no others. */
  readonly upstream: readonly Expected[];
  /** The statuses in order, after which the gateway ends the connection. */
  readonly answers: readonly number[];
}

/** Stands for an access token, with its length. The experiment puts in a new one, as a token lives for 15 minutes only. */
export const tokenPlaceholder = 'T'.repeat(personToken().length);
const bearer = `Authorization: Bearer ${tokenPlaceholder}\r\n`;
/** The headers that every request needs. */
export const head = `Host: a\r\n${bearer}`;
export const authorization = bearer;
/** The bait: bytes that an attacker wants to be parsed as a further request. */
export const hidden = `GET /v2/campaigns?hidden=CASE HTTP/1.1\r\n${head}\r\n`;
/** A valid request that ends the connection. It shows that both sides agree on where the previous one ended. */
const next = `GET /v2/plans?next=CASE HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;
const nextExpected: Expected = { method: 'GET', body: '' };

const targets: Readonly<Record<string, string>> = {
  DELETE: '/v2/groups/grp_1?case=CASE',
  PATCH: '/v2/groups/grp_1?case=CASE',
  HEAD: '/v2/campaigns?case=CASE',
};
/** A request line and the necessary headers; others may follow. */
export const start = (method: string, version = '1.1') =>
  `${method} ${targets[method] ?? '/v2/campaigns?case=CASE'} HTTP/${version}\r\n${head}`;

/** The body as a single chunk, with the last chunk behind it. */
export const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Expects that nothing reaches the upstream, not even what follows: one 400, and the connection is ended. */
export const refused = (family: string, name: string, bytes: string): SmugglingCase => ({
  family,
  name,
  bytes: bytes + hidden,
  upstream: [],
  answers: [400],
});

/** Expects exactly this request and the one behind it. */
export const passes = (family: string, name: string, bytes: string, expected: Expected): SmugglingCase => ({
  family,
  name,
  bytes: bytes + next,
  upstream: [expected, nextExpected],
  answers: [200, 200],
});

/** Expects that the gateway itself answers the request, and that the one behind it reaches the upstream. */
export const answered = (family: string, name: string, bytes: string, status: number): SmugglingCase => ({
  family,
  name,
  bytes: bytes + next,
  upstream: [nextExpected],
  answers: [status, 200],
});
