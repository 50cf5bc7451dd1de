import type { Analysis } from '@attribution/contracts';
import type { z } from 'zod';

export type Technical = z.output<typeof Analysis>['technical'];
export type Look = NonNullable<z.output<typeof Analysis>['look']>;
