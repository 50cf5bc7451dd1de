import pg from 'pg';

/** The URLs of the services' databases, by service. */
export type Databases = Readonly<Record<string, string>>;

/** Runs work on a connection of its own. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {}); // A lost connection also fails the query.
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

export async function rowsOf<T extends object>(url: string, sql: string): Promise<T[]> {
  return withClient(url, async (client) => (await client.query<T>(sql)).rows);
}
