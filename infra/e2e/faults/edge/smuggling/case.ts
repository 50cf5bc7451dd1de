import { personToken } from '@attribution/testing';

/** A request that must reach the upstream, and what must be true of it there. */
export interface Expected {
  readonly method: string;
  readonly body: string;
  /** Header fields that must be there with these values, and that must not be there. */
  readonly with?: Readonly<Record<string, string>>;
  readonly without?: readonly string[];
}

/** Bytes on one connection, what they must come to upstream, and what the client must be told. */
export interface SmugglingCase {
  readonly family: string;
  readonly name: string;
  /** As latin1; `CASE` stands for the case's own id, of as many characters. */
  readonly bytes: string;
  /** Those that must arrive whole, in this order; no others. */
  readonly upstream: readonly Expected[];
  /** Statuses in order, after which the gateway ends the connection. */
  readonly answers: readonly number[];
}

const bearer = `Authorization: Bearer ${personToken()}\r\n`;
/** What every request needs. */
export const head = `Host: a\r\n${bearer}`;
export const authorization = bearer;
/** Bait: what an attacker wants to be taken for one more request of somebody else. */
export const hidden = `GET /v2/campaigns?hidden=CASE HTTP/1.1\r\n${head}\r\n`;
/** A good request that ends the connection: it shows that both sides agree on where the one before it ended. */
const next = `GET /v2/plans?next=CASE HTTP/1.1\r\n${head}Connection: close\r\n\r\n`;
const nextExpected: Expected = { method: 'GET', body: '' };

const targets: Readonly<Record<string, string>> = {
  DELETE: '/v2/groups/grp_1?case=CASE',
  PATCH: '/v2/groups/grp_1?case=CASE',
  HEAD: '/v2/campaigns?case=CASE',
};
/** A request's line and the headers it needs; others may follow. */
export const start = (method: string, version = '1.1') =>
  `${method} ${targets[method] ?? '/v2/campaigns?case=CASE'} HTTP/${version}\r\n${head}`;

/** As one chunk, and the end. */
export const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

/** Nothing reaches the upstream, not what follows either; one 400, and the connection is ended. */
export const refused = (family: string, name: string, bytes: string): SmugglingCase => ({
  family,
  name,
  bytes: bytes + hidden,
  upstream: [],
  answers: [400],
});

/** Exactly this request, and the one behind it. */
export const passes = (family: string, name: string, bytes: string, expected: Expected): SmugglingCase => ({
  family,
  name,
  bytes: bytes + next,
  upstream: [expected, nextExpected],
  answers: [200, 200],
});

/** Understood, and answered by the gateway itself; the one behind it reaches the upstream. */
export const answered = (family: string, name: string, bytes: string, status: number): SmugglingCase => ({
  family,
  name,
  bytes: bytes + next,
  upstream: [nextExpected],
  answers: [status, 200],
});
