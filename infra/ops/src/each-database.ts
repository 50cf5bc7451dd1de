import { loadService } from '@attribution/registry';
import type { Operations } from '@attribution/service';
import type { Call } from './command.ts';
import type { ServiceDatabase } from './databases.ts';
import { describeFailure, Refusal } from './refusal.ts';

/** Does the work for one service after the other. A failure is reported, and the next service is still worked on. */
export async function eachDatabase(
  { note, stopping }: Pick<Call<unknown>, 'note' | 'stopping'>,
  databases: readonly ServiceDatabase[],
  work: (database: ServiceDatabase) => Promise<boolean>,
): Promise<boolean> {
  let good = true;
  for (const database of databases) {
    if (stopping.aborted)
      throw new Refusal('stopped', `${database.service} and the services after it were not processed.`);
    try {
      good = (await work(database)) && good;
    } catch (error) {
      const { title, detail } = describeFailure(error);
      note(`✗ ${database.service}: ${title}: ${detail}`);
      good = false;
    }
  }
  return good;
}

/** Opens the operations that a service's own code offers on its database, and closes them after the work. */
export async function withOperations<T>(
  database: ServiceDatabase,
  work: (operations: Operations) => Promise<T>,
): Promise<T> {
  const { url, environment } = database;
  const service = await loadService(database.service);
  const operations = service.openOperations({ url, environment, clock: { now: () => new Date() } });
  try {
    return await work(operations);
  } finally {
    await operations.close();
  }
}

/** `1 row`, `2 rows`. */
export const plural = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
