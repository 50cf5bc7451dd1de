import { setTimeout as sleep } from 'node:timers/promises';
import {
  createDeviceClient,
  type Flash,
  type Manifest,
  openFileStore,
  readKey,
  runDevice,
  volatileFlash,
} from '@attribution/simulator';
import type { ClaimedDevice } from '../claimed-devices.ts';
import type { ScreenGround } from './grounds.ts';
import { type Watched, watchDevice } from './watch.ts';

/** How often a device asks for its manifest, naming the version that it has. */
export const askEveryMs = 2_000;
/** How often a device that waits to be told sends a heartbeat. */
export const beatEveryMs = 1_000;

/** A device that has been switched on. */
export interface RunningDevice extends Watched {
  /** The folder of its files, which are named by their hashes. */
  readonly folder: string;
  off(): Promise<void>;
}

type SwitchOn = (
  ground: Pick<ScreenGround, 'devices'>,
  device: ClaimedDevice,
  folder: string,
) => Promise<RunningDevice>;

/** The whole device, as `npm run devices -- --manifest-every 2` runs it. */
const switchOnAsking: SwitchOn = async ({ devices }, { serial, privateKey, publicKey }, folder) => {
  const files = await openFileStore(folder);
  const watched = watchDevice(files);
  const memory = volatileFlash({ serial, factoryKey: privateKey, publicKey });
  const flash: Flash = {
    ...memory,
    async write(next) {
      await memory.write(next);
      watched.changed(next.manifest);
    },
  };
  const stopping = new AbortController();
  const tell = () => watched.changed();
  const running = runDevice({ ...devices, flash, files, tell, manifestEveryMs: askEveryMs }, stopping.signal);
  return {
    ...watched,
    folder,
    async off() {
      stopping.abort();
      await running;
    },
  };
};

/** A device that asks for its manifest only when a heartbeat names another version. */
const switchOnWaiting: SwitchOn = async ({ devices }, { serial, privateKey }, folder) => {
  const files = await openFileStore(folder);
  const watched = watchDevice(files);
  const client = createDeviceClient({ ...devices, serial, factoryKey: readKey(privateKey) });
  const stopping = new AbortController();
  let manifest: Manifest | undefined;

  async function beat(): Promise<void> {
    if (!client.credential) await client.bootstrap();
    const { manifest_version } = await client.heartbeat({ firmware_version: '1.0.0', uptime_seconds: 1 });
    if (manifest_version === (manifest?.version ?? null)) return;
    const next = (await client.manifest(manifest?.version)) ?? manifest;
    for (const file of next?.files ?? []) await files.fetch(file);
    manifest = next;
    watched.changed(manifest);
  }
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await beat().catch(() => {}); // The next heartbeat tries again.
      await sleep(beatEveryMs);
    }
  }
  const running = run();
  return {
    ...watched,
    folder,
    async off() {
      stopping.abort();
      await running;
      client.close();
    },
  };
};

/** The ways in which a device learns of a new manifest. */
export const ways = { asking: switchOnAsking, waiting: switchOnWaiting } as const;
export type Way = keyof typeof ways;
