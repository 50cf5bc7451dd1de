import { getDevice, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { DeviceDatabase } from '../store.ts';
import { findDetailed } from './device.store.ts';
import { viewDetail } from './device.view.ts';

export const getDeviceEndpoint = ({ database, clock }: { database: DeviceDatabase; clock: Clock }) =>
  implement(getDevice, async ({ params, caller }) => {
    const device = await findDetailed(database.sql, caller, params.id);
    if (!device) throw Problem.notFound();
    return viewDetail(device, clock.now());
  });
