import { type EventType, manifestChanged } from '@attribution/contracts';
import { on } from '@attribution/messaging';
import type { Tx } from '../store.ts';
import { setCurrent } from './manifest.store.ts';

/** Heartbeats tell devices of a new manifest before they have asked for it. */
export const onManifestChanged = on(manifestChanged, (tx: Tx, { data: { device_id, account_id, version } }) =>
  setCurrent(tx, { device_id, account_id }, version),
);

/** The event that it handles. */
export const manifestChanges: readonly EventType[] = [manifestChanged];
