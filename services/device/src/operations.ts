import { FactoryList } from '@attribution/contracts';
import { faultOf } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { listForOperator } from './devices/index.ts';
import { type ImportAnswer, importFactoryList } from './imports/index.ts';
import type { DeviceDatabase } from './store.ts';

/** The commands of operators on devices. */
export const deviceOperations = (dependencies: { readonly database: DeviceDatabase; readonly clock: Clock }) => ({
  /** Takes over a factory list, as the Internal endpoint does. Throws a RangeError for what is none. */
  async importDevices(list: unknown, { dryRun }: { readonly dryRun: boolean }): Promise<ImportAnswer> {
    const fault = faultOf(FactoryList, list);
    if (fault !== undefined) throw new RangeError(fault);
    return importFactoryList(dependencies, FactoryList.parse(list), { keep: !dryRun });
  },

  /** Devices behind the one with the id `after`, whoever they belong to, by id. */
  listDevices: (page: { readonly after: string | undefined; readonly limit: number }) =>
    listForOperator(dependencies.database.sql, page),
});
