import { readConfig } from '@attribution/service';
import { z } from 'zod';

const Settings = z.object({ ORGANIZATION_URL: z.url() });

export type CampaignConfig = z.output<typeof Settings>;

export function readCampaignConfig(environment: Readonly<Record<string, string | undefined>>): CampaignConfig {
  return readConfig(Settings, environment);
}
