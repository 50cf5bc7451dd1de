import { setTimeout as sleep } from 'node:timers/promises';
import { type Backoff, createBackoff } from './backoff.ts';
import { createDeviceClient, type DeviceClient, Refused, readKey } from './client.ts';
import { type Crowd, createCrowd } from './crowd.ts';
import type { FileStore } from './files.ts';
import type { Flash, Memory } from './flash.ts';
import { heldIn } from './held.ts';
import type { Manifest } from './manifest.ts';
import { createPlayer, type Play, type Player } from './player.ts';
import { createReports, type Sent } from './reports.ts';
import type { WireOptions } from './wire.ts';

/** What a device tells about itself while it runs. */
export type DeviceEvent =
  | { readonly event: 'code'; readonly claim_code: string }
  | { readonly event: 'certificate'; readonly device_id: string; readonly not_after: string }
  | { readonly event: 'manifest'; readonly version: number }
  | { readonly event: 'file'; readonly sha256: string }
  | { readonly event: 'play'; readonly play: Play }
  | ({ readonly event: 'sent' } & Sent)
  | { readonly event: 'trouble'; readonly detail: string; readonly wait_ms: number };

export interface DeviceOptions extends Omit<WireOptions, 'identity' | 'timeoutMs'> {
  readonly flash: Flash;
  readonly files: FileStore;
  readonly tell: (event: DeviceEvent) => void;
  /** What the screens' clock says, given the server's time. Default: the same. */
  readonly clock?: (serverTime: number) => number;
  /** Milliseconds between two questions for the manifest. Default: with each heartbeat that names another one. */
  readonly manifestEveryMs?: number | undefined;
  /**
   * Milliseconds between two reports of what was played and, in the zones that the configuration names in `watches`, seen.
   * Default: nothing is reported. The screens' clock has to be the server's.
   */
  readonly reportEveryMs?: number | undefined;
  /** From 0 to below 1. Default: `Math.random`. */
  readonly random?: () => number;
  /** How long it waits at first and at most after a failure, in milliseconds. */
  readonly backoff?: { readonly firstMs: number; readonly longestMs: number };
}

const firmware = '1.0.0';
/** How often the screens are looked at. */
const frameMs = 1_000;
const defaultHeartbeatMs = 60_000;

/** Runs a device until the signal is aborted: it gets a certificate, keeps it, and plays what it is told. */
export async function runDevice(options: DeviceOptions, signal: AbortSignal): Promise<void> {
  const { flash, files, tell, clock = (time) => time, random = Math.random } = options;
  const pauses = { ...(options.backoff ?? { firstMs: 1_000, longestMs: 30_000 }), random };
  const [backoff, manifestBackoff, reportBackoff] = [
    createBackoff(pauses),
    createBackoff(pauses),
    createBackoff(pauses),
  ];
  const memory = await flash.read();
  if (!memory) throw new Error('The device has not been in the factory');
  const { serial, credential } = memory;
  const client = createDeviceClient({
    ...options,
    serial,
    factoryKey: readKey(memory.factoryKey),
    credential,
  });
  let manifest = memory.manifest;
  /** Of each screen, and of each campaign that is held back on it. */
  const players = new Map<string, Player>();
  const reports = createReports();
  const reporting = options.reportEveryMs !== undefined;
  let watches: readonly string[] = [];
  let crowd: Crowd | undefined;

  const remember = (more: Partial<Memory>) =>
    flash.write({ ...memory, credential: client.credential, manifest, ...more });
  const rest = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});

  /** Asks until somebody has claimed the device. */
  async function enrol(): Promise<void> {
    while (!signal.aborted && !client.credential) {
      const answer = await client.bootstrap();
      backoff.reset();
      if ('claimCode' in answer) {
        tell({ event: 'code', claim_code: answer.claimCode });
        await rest(answer.retryAfterMs * (0.9 + 0.2 * random()));
      } else {
        await remember({ credential: answer });
        tell({ event: 'certificate', device_id: answer.deviceId, not_after: answer.notAfter });
      }
    }
  }

  async function renewIfDue(renewAfter: string): Promise<void> {
    if (client.now() < Date.parse(renewAfter)) return;
    const renewed = await client.renew();
    await remember({ credential: renewed });
    tell({ event: 'certificate', device_id: renewed.deviceId, not_after: renewed.notAfter });
  }

  /** Of a configuration, the zones that a camera watches matter here: who comes there is made up, and reported. */
  async function applyConfig(): Promise<number> {
    const { desired, desired_version, reported_version, applied_version } = await client.config();
    const zoneIds = Array.isArray(desired.watches) ? desired.watches.map(String) : [];
    if (zoneIds.join() !== watches.join()) {
      watches = zoneIds;
      crowd = zoneIds.length > 0 ? createCrowd({ seed: serial, from: client.now(), zoneIds }) : undefined;
    }
    if (applied_version !== desired_version) await client.report(desired, reported_version, desired_version);
    return desired_version;
  }

  async function report(): Promise<void> {
    const sent = await reports.send(client);
    if (sent.plays + sent.visits > 0) tell({ event: 'sent', ...sent });
  }

  async function followManifest(): Promise<void> {
    const complete = manifest?.files.every(({ sha256 }) => files.has(sha256));
    const received = await client.manifest(complete ? manifest?.version : undefined);
    manifestBackoff.reset();
    if (received) {
      const isNew = received.version !== manifest?.version;
      manifest = received;
      await remember({});
      if (isNew) tell({ event: 'manifest', version: received.version });
    }
    for (const file of manifest?.files ?? []) {
      if (files.has(file.sha256)) continue;
      await files.fetch(file);
      tell({ event: 'file', sha256: file.sha256 });
    }
  }

  /** Everything that goes on while the certificate is good. Rejects with what ended it. */
  async function serve(): Promise<void> {
    let [nextHeartbeat, nextManifest, applied] = [0, 0, 0];
    let nextReport = options.reportEveryMs ?? Number.POSITIVE_INFINITY;
    if (options.reportEveryMs !== undefined) nextReport += Date.now();
    let hasToldInventory = false;
    /** It goes on with what it has, and its heartbeats go on too. Rejects with what ends them. Resolves with how long to wait. */
    const excuse = (error: unknown, itsBackoff: Backoff): number => {
      if (error instanceof Refused && error.status < 500) throw error;
      const waitMs = waitAfter(error, client, itsBackoff);
      tell({ event: 'trouble', detail: messageOf(error), wait_ms: waitMs });
      return waitMs;
    };
    while (!signal.aborted) {
      const now = Date.now();
      if (now >= nextHeartbeat) {
        const answer = await client.heartbeat({
          firmware_version: firmware,
          uptime_seconds: Math.floor(process.uptime()),
          ...(manifest && { manifest_version: manifest.version }),
        });
        backoff.reset();
        const intervalMs = 1_000 * answer.heartbeat_interval_seconds || defaultHeartbeatMs;
        nextHeartbeat = now + intervalMs * (0.9 + 0.1 * random());
        if (answer.status === 'active') {
          if (!hasToldInventory) await client.inventory({ firmware_version: firmware, os: 'simulated' });
          hasToldInventory = true;
          await renewIfDue(answer.renew_after);
          if (answer.desired_version !== applied) applied = await applyConfig();
          if (answer.manifest_version !== (manifest?.version ?? null)) nextManifest = 0;
        } else {
          nextManifest = nextHeartbeat; // Suspended: it keeps what it has.
          nextReport = Math.max(nextReport, nextHeartbeat + 1);
        }
      }
      if (now >= nextManifest) {
        nextManifest = now + (options.manifestEveryMs ?? Number.POSITIVE_INFINITY);
        await followManifest().catch((error: unknown) => {
          nextManifest = now + excuse(error, manifestBackoff);
        });
      }
      if (now >= nextReport) {
        nextReport = now + (options.reportEveryMs ?? Number.POSITIVE_INFINITY);
        await report().then(reportBackoff.reset, (error: unknown) => {
          nextReport = now + excuse(error, reportBackoff);
        });
      }
      await rest(Math.max(50, Math.min(nextHeartbeat, nextManifest, nextReport) - Date.now()));
    }
  }

  /** What was played until now on each screen. */
  function shownBy(plan: Manifest, now: number, name: string, has: (sha256: string) => boolean): Play[] {
    return plan.screens.flatMap(({ screen_id }) => {
      const key = `${screen_id} ${name}`;
      const player = players.get(key) ?? createPlayer(screen_id, now);
      players.set(key, player);
      return player.playUntil(now, plan, has);
    });
  }

  /** Plays, and looks, whatever the network does. */
  function play(): void {
    const now = clock(client.now());
    if (!manifest) return;
    for (const shown of shownBy(manifest, now, '', files.has)) {
      tell({ event: 'play', play: shown });
      if (reporting) reports.addPlay(shown);
    }
    if (!reporting) return;
    for (const [campaign, plan] of heldIn(manifest))
      for (const held of shownBy(plan, now, campaign, () => true)) reports.addPlay(held, true);
    const { location_id } = manifest;
    if (location_id) for (const visit of crowd?.visitsUntil(now) ?? []) reports.addVisit(visit, location_id);
  }

  for (const { sha256, ...file } of manifest?.files ?? []) await files.fetch({ sha256, ...file }).catch(() => {});
  const frames = setInterval(play, frameMs).unref();
  try {
    while (!signal.aborted) await attempt();
  } finally {
    clearInterval(frames);
    client.close();
  }

  async function attempt(): Promise<void> {
    try {
      if (!client.credential || client.now() > Date.parse(client.credential.notAfter)) client.forget();
      await enrol();
      if (!signal.aborted) await serve();
    } catch (error) {
      if (signal.aborted) return;
      const waitMs = waitAfter(error, client, backoff);
      tell({ event: 'trouble', detail: messageOf(error), wait_ms: waitMs });
      await rest(waitMs);
    }
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** 401 on a device's own endpoints means that its certificate is good no more: it bootstraps, without losing what it plays. */
function waitAfter(error: unknown, client: DeviceClient, backoff: Backoff): number {
  if (!(error instanceof Refused)) return backoff.next();
  if (error.status === 401) client.forget();
  return backoff.next(error.retryAfterMs);
}
