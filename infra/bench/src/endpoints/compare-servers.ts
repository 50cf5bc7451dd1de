import type { ServiceName } from '@attribution/contracts';
import { compare, type Tools } from '../case.ts';
import { type BenchDatabase, createBenchDatabase } from '../database.ts';
import type { BenchServer } from '../server.ts';

/** Creates a database for a service, does the work, and drops it. */
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

/** Runs the same load on both servers in pairs, then stops them. */
export async function compareServers(
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
