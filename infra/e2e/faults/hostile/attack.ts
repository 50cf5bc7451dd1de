import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Owner } from '../outages/owner.ts';
import { randomIp } from './clients.ts';

/** Whom an attack is on, and what the attacker has: an account of its own. */
export interface Target {
  readonly url: string;
  readonly attacker: Owner;
  /** An address of somebody else, at whose codes and password the attacker guesses. */
  readonly victim: string;
  /** How many connections, loops or rows an attack has, as a part of its long form. */
  readonly scale: number;
}

/** What an attack works with. */
export interface Attempt extends Target {
  /** Called for each response that the attacker gets: a status, or `cut`. */
  onAnswer(status: string): void;
}

/** What an attacker got, and what it has broken that the honest ones do not see, if anything. */
export interface AttackResult {
  /** The number of responses by status. */
  readonly answers: Readonly<Record<string, number>>;
  readonly broken?: string | undefined;
}

/** Ends an attack. Resolves with what it has broken that the honest ones do not see, if anything. */
export type EndAttack = () => Promise<string | undefined>;

export interface Attack {
  readonly name: string;
  /** Makes what it needs, before anything is measured. */
  prepare?(target: Target): Promise<void>;
  /** Begins it. Resolves with a function that ends it. */
  start(attempt: Attempt): Promise<EndAttack>;
}

type Request = (n: number) => { path: string; method?: string; body?: string; ip?: string; token?: string };

/** A part of the long form, and at least one. */
export const some = (count: number, { scale }: Target) => Math.max(1, Math.round(count * scale));

export const json = (value: unknown) => JSON.stringify(value);

/** Sends requests in so many loops, each as fast as it gets responses. */
export function loops(count: number, target: Attempt, requestOf: Request): EndAttack {
  const stopping = new AbortController();
  const own = randomIp();
  let sent = 0;
  const loop = async () => {
    while (!stopping.signal.aborted) {
      const { path, method = 'POST', body, ip = own, token } = requestOf(sent++);
      const headers = {
        'x-forwarded-for': ip,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token && { authorization: `Bearer ${token}` }),
      };
      const options = { method, headers, signal: stopping.signal, ...(body !== undefined && { body }) };
      // A response that is cut, or refused without a delay, is what an attacker expects.
      const answer = await fetch(`${target.url}${path}`, options).catch(() => undefined);
      await answer?.arrayBuffer().catch(() => {});
      if (!stopping.signal.aborted) target.onAnswer(String(answer?.status ?? 'cut'));
      if (!answer?.ok) await sleep(5);
    }
  };
  const running = Promise.all(Array.from({ length: some(count, target) }, loop));
  return async () => {
    stopping.abort();
    await running;
    return undefined;
  };
}

/** Opens so many connections and sends `text` on each, and nothing more. */
export function sockets(count: number, target: Target, text: string): EndAttack {
  const { hostname, port } = new URL(target.url);
  const bytes = Buffer.from(text); // Once: a megabyte for each connection costs more than it costs the platform.
  const open: Socket[] = Array.from({ length: some(count, target) }, () =>
    connect(Number(port), hostname)
      .on('error', () => {})
      .once('connect', function (this: Socket) {
        sendInPieces(this, bytes);
      }),
  );
  return async () => {
    for (const socket of open) socket.destroy();
    return undefined;
  };
}

/** The system call that sends a megabyte keeps everybody else from a processor for milliseconds. */
const pieceBytes = 65_536;

function sendInPieces(socket: Socket, bytes: Buffer, from = 0): void {
  if (from >= bytes.length) return;
  socket.write(bytes.subarray(from, from + pieceBytes), (error) => {
    if (!error) sendInPieces(socket, bytes, from + pieceBytes);
  });
}

/** A request that announces a body of so many bytes and sends fewer. */
export const stalled = (path: string, headers: readonly string[], announced: number, sent: number) =>
  [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', `Content-Length: ${announced}`, ...headers]
    .concat('', '')
    .join('\r\n') + ' '.repeat(sent);

/** Sends a file in pieces as an import. */
export function upload(
  { url, attacker }: Target,
  pieces: Iterable<string>,
  signal?: AbortSignal,
): Promise<Response | undefined> {
  const encoder = new TextEncoder();
  async function* body() {
    for (const piece of pieces) yield encoder.encode(piece);
  }
  return fetch(`${url}/v2/estate/imports`, {
    method: 'POST',
    body: body(),
    duplex: 'half',
    headers: {
      authorization: `Bearer ${attacker.token}`,
      'content-type': 'application/x-ndjson',
      'x-forwarded-for': randomIp(),
    },
    ...(signal && { signal }),
  }).catch(() => undefined);
}
