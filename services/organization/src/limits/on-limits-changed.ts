import { accountLimitsChanged } from '@attribution/contracts';
import { on } from '@attribution/messaging';
import type { Tx } from '../store.ts';
import { putLimits } from './limit.store.ts';

export const onLimitsChanged = on(accountLimitsChanged, (tx: Tx, { data }) => putLimits(tx, data));
