export { createBackoff } from './backoff.ts';
export {
  type Credential,
  createDeviceClient,
  type DeviceClient,
  newFactoryKey,
  Refused,
  readKey,
  signBody,
} from './client.ts';
export { createCrowd } from './crowd.ts';
export { makeCsr } from './csr.ts';
export { type DeviceEvent, type DeviceOptions, runDevice } from './device.ts';
export { type MadeDevice, makeDevices, prefixIn } from './factory.ts';
export { type FileStore, openFileStore } from './files.ts';
export { type Flash, type Memory, openFlash, volatileFlash } from './flash.ts';
export { heldIn } from './held.ts';
export type { Manifest, ManifestItem, ManifestScreen, Slot } from './manifest.ts';
export { openPlayLog } from './play-log.ts';
export { createPlayer, type Play } from './player.ts';
export { type ClientIdentity, openWire } from './wire.ts';
