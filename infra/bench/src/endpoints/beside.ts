import type { ServiceName } from '@attribution/contracts';
import { compare, type Tools } from '../case.ts';
import { type BenchDatabase, createBenchDatabase } from '../database.ts';
import type { BenchServer } from '../server.ts';

/** Does the work on a database of a service's own, which is gone afterwards. */
export async function withDatabase<T>(
  tools: Tools,
  service: ServiceName,
  work: (database: BenchDatabase) => Promise<T>,
): Promise<T> {
  const database = await createBenchDatabase(tools.postgresUrl, service);
  try {
    return await work(database);
  } finally {
    await database.drop();
  }
}

/** Runs the same load on both, in turn. */
export async function beside(
  tools: Tools,
  ours: BenchServer,
  other: BenchServer,
  run: (url: string) => Promise<number>,
) {
  try {
    return await compare(
      tools,
      () => run(ours.url),
      () => run(other.url),
    );
  } finally {
    await Promise.all([ours.stop(), other.stop()]);
  }
}
