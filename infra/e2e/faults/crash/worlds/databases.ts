import { registeredNames } from '@attribution/registry';
import { createTestDatabase } from '@attribution/testing';

/** Creates a database for each service, and returns their URLs by service. */
export async function createDatabases() {
  const created = await Promise.all(
    registeredNames.map(async (service) => [service, await createTestDatabase(service)] as const),
  );
  const databases: Readonly<Record<string, string>> = Object.fromEntries(
    created.map(([service, { url }]) => [service, url]),
  );
  return { databases, drop: () => Promise.all(created.map(([, database]) => database.drop())) };
}
