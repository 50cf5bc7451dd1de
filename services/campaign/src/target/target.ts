import type { Target } from '@attribution/contracts';
import type { z } from 'zod';

/** Where a campaign may run. */
export type CampaignTarget = z.output<typeof Target>;

const nothing = { group_ids: [], location_ids: [], tags: [] };

/** Reaches nothing. */
export const emptyTarget: CampaignTarget = { include: nothing, exclude: nothing, holdout_percent: 0 };

/** Whether its include-set is empty. */
export const isEmpty = ({ include }: Pick<CampaignTarget, 'include'>): boolean =>
  include.group_ids.length + include.location_ids.length + include.tags.length === 0;
