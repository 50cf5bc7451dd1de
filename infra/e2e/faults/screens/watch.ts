import type { FileStore, Manifest } from '@attribution/simulator';
import { eventually } from '@attribution/testing';

/** What a device has in force. */
export interface Watched {
  /** Told when a manifest is in force, and whenever a file was checked. */
  changed(manifest?: Manifest): void;
  /**
   * Resolves with the instant (of `performance.now()`) from which on the ad is in a slot and its file checked, or, if it is
   * not to be shown, in no slot any more. Undefined if that is not so within a minute.
   */
  until(campaignAd: string, isShown: boolean): Promise<number | undefined>;
  /** The hash of the ad's file, by the manifest in force. */
  fileOf(campaignAd: string): string | undefined;
}

export function watchDevice(files: Pick<FileStore, 'has'>): Watched {
  let manifest: Manifest | undefined;
  /** When an ad came into force, and when it left; an ad does both once. */
  const since = new Map<string, number>();
  const gone = new Map<string, number>();
  const fileOf = (ad: string) => manifest?.items.find(({ campaign_ad_id }) => campaign_ad_id === ad)?.sha256;

  return {
    fileOf,
    changed(next = manifest) {
      manifest = next;
      const slots = manifest?.screens.flatMap((screen) => screen.slots) ?? [];
      const planned = new Set(slots.flatMap(({ campaign_ad_ids }) => campaign_ad_ids));
      for (const ad of since.keys()) if (!planned.has(ad) && !gone.has(ad)) gone.set(ad, performance.now());
      for (const ad of planned) {
        const file = fileOf(ad);
        if (file !== undefined && files.has(file) && !since.has(ad)) since.set(ad, performance.now());
      }
    },
    until: (ad, isShown) =>
      eventually(() => {
        const at = (isShown ? since : gone).get(ad);
        if (at === undefined) throw new Error('Not yet');
        return at;
      }, 60_000).catch(() => undefined),
  };
}
