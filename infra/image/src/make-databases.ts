import pg from 'pg';

/** The advisory lock of this program on a server. The number is arbitrary. */
const lock = 7_236_541_093;
const attributes = 'LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS';

/**
 * Creates the role and the database of each URL if they do not exist. The role of a database's first URL owns it, the roles
 * of further ones may connect to it, and none can connect to another: a service's password gives access to that service's
 * rows alone.
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
    // By default every role may connect to these.
    for (const shared of ['postgres', 'template1'])
      await client.query(`REVOKE CONNECT, TEMPORARY ON DATABASE ${shared} FROM PUBLIC`);
    for (const url of urls) await makeDatabase(client, new URL(url), say);
  } finally {
    await client.end(); // Releases the lock.
  }
}

async function makeDatabase(client: pg.Client, url: URL, say: (line: string) => void): Promise<void> {
  const [user, password, name] = [url.username, url.password, url.pathname.slice(1)].map(decodeURIComponent);
  if (!user || !password || !name) throw new Error(`A database's URL needs a user, a password and a name: ${url.host}`);
  const [role, database] = [pg.escapeIdentifier(user), pg.escapeIdentifier(name)];
  const existingRole = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [user]);
  const verb = existingRole.rowCount ? 'ALTER' : 'CREATE';
  await client.query(`${verb} ROLE ${role} ${attributes} PASSWORD ${pg.escapeLiteral(password)}`);
  const { rows } = await client.query<{ owner: string }>(
    'SELECT pg_get_userbyid(datdba) AS owner FROM pg_database WHERE datname = $1',
    [name],
  );
  const existing = rows[0];
  if (existing && existing.owner !== user) {
    await client.query(`GRANT CONNECT ON DATABASE ${database} TO ${role}`);
    say(`${name}: owned by ${existing.owner}, and ${user} may connect`);
    return;
  }
  if (!existing) await client.query(`CREATE DATABASE ${database} OWNER ${role}`);
  await client.query(`REVOKE ALL ON DATABASE ${database} FROM PUBLIC`);
  say(`${name}: ${existing ? 'exists' : 'created'}, owned by ${user}`);
}
