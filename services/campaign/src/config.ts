import { readConfig } from '@attribution/runtime';
import { z } from 'zod';

/** What campaign reads besides what every service does. */
export const campaignSettings = z.object({ ORGANIZATION_URL: z.url() });

export type CampaignConfig = z.output<typeof campaignSettings>;

export function readCampaignConfig(environment: Readonly<Record<string, string | undefined>>): CampaignConfig {
  return readConfig(campaignSettings, environment);
}
