/**
 * Many devices that keep their connections and send heartbeats. `POST /full?connections=&seconds=`: they take turns, and
 * another one sends when an answer has come. `POST /paced?connections=&seconds=&interval=`: each sends one in an interval, at a moment of its
 * own, whatever becomes of the others; the first interval, in which they connect, is not counted. Others are closed.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOnSignal, given } from '../gateway/environment.ts';
import { announce } from '../server.ts';
import { quantile } from '../statistics.ts';
import type { CrowdResult } from './crowd.ts';
import { type KeptConnection, openKept } from './kept-connection.ts';
import type { ShownIdentity } from './stage.ts';

const [url, ca] = [given('TARGET'), given('CA')];
const identities = JSON.parse(readFileSync(given('IDENTITIES'), 'utf8')) as ShownIdentity[];
/** An address of a client may have 2,048 connections. */
const addresses = 20;
const handshakesAtOnce = 16;
/** Of heartbeats at full speed: most connections are silent at any moment. */
const beatsAtOnce = 64;
const kept = new Map<ShownIdentity, KeptConnection>();

/** A device that connects has something to say: a connection on which nothing is asked is closed. */
async function connect(identity: ShownIdentity): Promise<void> {
  const localAddress = `127.0.0.${2 + (kept.size % addresses)}`;
  const connection = await openKept({ url, ca, localAddress, ...identity });
  kept.set(identity, connection);
  await connection.beat();
}

function closeAllBut(devices: readonly ShownIdentity[]): void {
  const wanted = new Set(devices);
  for (const [identity, connection] of kept)
    if (!wanted.has(identity) || !connection.open) {
      connection.close();
      kept.delete(identity);
    }
}

/** What came of heartbeats; the first failure is said. */
function collect() {
  const times: number[] = [];
  let failed = 0;
  const began = performance.now();
  return {
    async count(sending: Promise<number | undefined>): Promise<void> {
      try {
        const ms = await sending;
        if (ms !== undefined) times.push(ms);
      } catch (error) {
        if (failed++ === 0) console.error(error);
      }
    },
    result: (): CrowdResult => ({
      rate: times.length / ((performance.now() - began) / 1_000),
      p50: quantile(times, 0.5),
      p99: quantile(times, 0.99),
      answered: times.length,
      failed,
    }),
  };
}

async function full(devices: readonly ShownIdentity[], seconds: number): Promise<CrowdResult> {
  const missing = devices.filter((identity) => !kept.has(identity)).values();
  async function connectSome(): Promise<void> {
    for (const identity of missing) await connect(identity);
  }
  await Promise.all(Array.from({ length: handshakesAtOnce }, connectSome));
  const { count, result } = collect();
  const end = performance.now() + seconds * 1_000;
  const silent = [...kept.values()];
  async function beatInTurn(): Promise<void> {
    do {
      const connection = silent.shift();
      if (!connection) return;
      await count(connection.beat());
      silent.push(connection);
    } while (performance.now() < end);
  }
  await Promise.all(Array.from({ length: Math.min(beatsAtOnce, silent.length) }, beatInTurn));
  return result();
}

async function paced(devices: readonly ShownIdentity[], seconds: number, interval: number): Promise<CrowdResult> {
  const { count, result } = collect();
  const began = performance.now();
  const end = 1_000 * (interval + seconds);
  const moments = devices
    .flatMap((identity) => {
      const first = Math.random() * interval * 1_000;
      const times = Math.ceil((end - first) / (interval * 1_000));
      return Array.from({ length: times }, (_, n) => ({ identity, n, at: began + first + n * interval * 1_000 }));
    })
    .toSorted((a, b) => a.at - b.at);
  /** What a device has begun last: it sends one after the other. */
  const begun = new Map<ShownIdentity, Promise<unknown>>();
  /** Resolves to undefined for what is not counted. */
  function send(identity: ShownIdentity, n: number): Promise<number | undefined> {
    const sending = (begun.get(identity) ?? Promise.resolve()).then(async () => {
      // What was kept from a former crowd may have been idle for too long.
      if (n === 0 && !kept.get(identity)?.open) return void (await connect(identity));
      const ms = await kept.get(identity)?.beat();
      return n > 0 ? ms : undefined;
    });
    begun.set(
      identity,
      sending.catch(() => {}),
    );
    return sending;
  }
  const sent: Promise<void>[] = [];
  for (const { identity, n, at } of moments) {
    const early = at - performance.now();
    if (early > 0) await sleep(early);
    sent.push(count(send(identity, n)));
  }
  await Promise.all(sent);
  return result();
}

const server = createServer(async (req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://crowd');
  const number = (name: string) => Number(searchParams.get(name));
  const devices = identities.slice(0, number('connections'));
  closeAllBut(devices);
  const seconds = number('seconds');
  const running = pathname === '/full' ? full(devices, seconds) : paced(devices, seconds, number('interval'));
  running.then(
    (result) => res.end(JSON.stringify(result)),
    (error: unknown) => res.writeHead(500).end(String(error)),
  );
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
