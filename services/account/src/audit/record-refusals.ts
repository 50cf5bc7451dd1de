import { recordRefusals } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { keepEntries } from './audit.store.ts';

export const recordRefusalsEndpoint = ({ sql }: AccountDatabase) =>
  implement(recordRefusals, ({ body }) => keepEntries(sql, body.entries));
