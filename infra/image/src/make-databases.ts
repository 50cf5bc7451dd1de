import pg from 'pg';

/** Any number; the same for all who do this on one server. */
const lock = 7_236_541_093;
const role = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';

/**
 * Makes each URL's role and database exist. A role owns its one database, and can connect to no other: whoever has a
 * service's password has that service's rows, and nothing else.
 */
export async function makeDatabases(
  adminUrl: string,
  urls: readonly string[],
  say: (line: string) => void,
): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [lock]);
    // By default everybody may connect everywhere.
    for (const shared of ['postgres', 'template1'])
      await client.query(`REVOKE CONNECT, TEMPORARY ON DATABASE ${shared} FROM PUBLIC`);
    for (const url of urls) await makeDatabase(client, new URL(url), say);
  } finally {
    await client.end(); // Ends the lock with the session.
  }
}

async function makeDatabase(client: pg.Client, url: URL, say: (line: string) => void): Promise<void> {
  const [user, password, name] = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent);
  if (!user || !password || !name) throw new Error(`A database's URL needs a user, a password and a name: ${url.host}`);
  const [owner, database] = [pg.escapeIdentifier(user), pg.escapeIdentifier(name)];
  const known = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [user]);
  const verb = known.rowCount ? 'ALTER' : 'CREATE';
  await client.query(`${verb} ROLE ${owner} ${role} PASSWORD ${pg.escapeLiteral(password)}`);
  const there = await client.query('SELECT FROM pg_database WHERE datname = $1', [name]);
  if (!there.rowCount) await client.query(`CREATE DATABASE ${database} OWNER ${owner}`);
  await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
  say(`${name}: ${there.rowCount ? 'is there' : 'created'}, owned by ${user}`);
}
