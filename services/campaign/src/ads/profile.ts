import type { NewAdProfile } from '@attribution/contracts';
import type { z } from 'zod';

/** What a request says of an ad's audience and dayparts. */
export type ProfileFields = z.output<typeof NewAdProfile>;
