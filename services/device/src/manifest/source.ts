import { type Client, type DeviceManifest, getDeviceManifest } from '@attribution/contracts';

/** Who makes manifests. Undefined where none is known for the device; rejects while it cannot be asked. */
export type ManifestSource = (device: {
  readonly device_id: string;
  readonly account_id: string;
}) => Promise<DeviceManifest | undefined>;

/** Campaign makes them, at each request. */
export const manifestsOf =
  (campaign: Client): ManifestSource =>
  async ({ device_id, account_id }) => {
    const answer = await campaign.call(getDeviceManifest, { params: { device_id }, query: { account_id } });
    return answer.status === 404 ? undefined : answer.body; // After any other failure, reading the body throws.
  };
