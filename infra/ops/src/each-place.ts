import { loadService } from '@attribution/registry';
import type { Operations } from '@attribution/service';
import type { Call } from './command.ts';
import type { Place } from './places.ts';
import { describeFailure, Refusal } from './refusal.ts';

/** Does the same for one service after the other. One that fails is told, and keeps nobody else from their turn. */
export async function eachPlace(
  { note, stopping }: Pick<Call<unknown>, 'note' | 'stopping'>,
  places: readonly Place[],
  work: (place: Place) => Promise<boolean>,
): Promise<boolean> {
  let good = true;
  for (const place of places) {
    if (stopping.aborted) throw new Refusal('stopped', `${place.service} and those behind it were not looked at.`);
    try {
      good = (await work(place)) && good;
    } catch (error) {
      const { title, detail } = describeFailure(error);
      note(`✗ ${place.service}: ${title}: ${detail}`);
      good = false;
    }
  }
  return good;
}

/** What the service's own code does on its database. */
export async function withOperations<T>(place: Place, work: (operations: Operations) => Promise<T>): Promise<T> {
  const { url, environment } = place;
  const service = await loadService(place.service);
  const operations = service.openOperations({ url, environment, clock: { now: () => new Date() } });
  try {
    return await work(operations);
  } finally {
    await operations.close();
  }
}

/** `1 row`, `2 rows`. */
export const plural = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;
