import type { Probe as ProbeSchema } from '@attribution/contracts';
import type { z } from 'zod';

export type Probe = z.output<typeof ProbeSchema>;
