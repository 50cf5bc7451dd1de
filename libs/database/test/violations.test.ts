import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isForeignKeyViolation, isServerTrouble, isUniqueViolation, type SqlTransaction } from '../src/index.ts';
import { openThings } from './support.ts';

type Things = Awaited<ReturnType<typeof openThings>>;

let database: Things;
beforeAll(async () => {
  database = await openThings();
  await database.pool.query(`INSERT INTO things (id, name, parent_id) VALUES (3, 'part', 1)`);
});
afterAll(() => database.drop());

const statements = {
  'a duplicate primary key': `INSERT INTO things (id, name) VALUES (1, 'other')`,
  'a duplicate name': `INSERT INTO things (id, name) VALUES (9, 'first')`,
  'a missing parent': `INSERT INTO things (id, name, parent_id) VALUES (9, 'ninth', 77)`,
  'a row that others refer to': 'DELETE FROM things WHERE id = 1',
  'a check': `INSERT INTO things (id, name, size) VALUES (9, 'ninth', -1)`,
  'a missing value': 'INSERT INTO things (id) VALUES (9)',
  'no such table': 'SELECT * FROM nothing',
};
type Statement = keyof typeof statements;

/** The same statement by the methods of a model, if there is a method for it. */
const byModel: Partial<Record<Statement, (client: Things['prisma']) => Promise<unknown>>> = {
  'a duplicate primary key': (client) => client.thing.create({ data: { id: 1, name: 'other' } }),
  'a duplicate name': (client) => client.thing.create({ data: { id: 9, name: 'first' } }),
  'a missing parent': (client) => client.thing.create({ data: { id: 9, name: 'ninth', parent_id: 77 } }),
  'a row that others refer to': (client) => client.thing.delete({ where: { id: 1 } }),
  'a check': (client) => client.thing.create({ data: { id: 9, name: 'ninth', size: -1 } }),
};

const execute = async (client: SqlTransaction, sql: string) => client.$executeRawUnsafe(sql);
const errorOf = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('It was let pass');
    },
    (error: unknown) => error,
  );

/** The errors of the statement on each way to the database. */
async function errorsOf(statement: Statement): Promise<unknown[]> {
  const sql = statements[statement];
  const ways = [
    database.pool.query(sql),
    execute(database.prisma, sql),
    database.transaction((tx) => execute(tx, sql)),
    ...[byModel[statement]?.(database.prisma)].filter((way) => way !== undefined),
  ];
  return Promise.all(ways.map(errorOf));
}

test.each<[Statement, { unique: boolean; foreignKey: boolean }]>([
  ['a duplicate primary key', { unique: true, foreignKey: false }],
  ['a duplicate name', { unique: true, foreignKey: false }],
  ['a missing parent', { unique: false, foreignKey: true }],
  ['a row that others refer to', { unique: false, foreignKey: true }],
  ['a check', { unique: false, foreignKey: false }],
  ['a missing value', { unique: false, foreignKey: false }],
  ['no such table', { unique: false, foreignKey: false }],
])(
  '%s is recognized from pg, from Prisma’s SQL, in a transaction and from a model',
  async (statement, { unique, foreignKey }) => {
    for (const error of await errorsOf(statement)) {
      expect(isUniqueViolation(error)).toBe(unique);
      expect(isForeignKeyViolation(error)).toBe(foreignKey);
    }
  },
);

test('an error that is not from a database is not a violation, whatever its message', () => {
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  for (const other of [undefined, null, 'P2002', 23505, new Error('23505'), { code: 23505 }, {}, circle]) {
    expect(isUniqueViolation(other)).toBe(false);
    expect(isForeignKeyViolation(other)).toBe(false);
    expect(isServerTrouble(other)).toBe(false);
  }
});

test('a violation is recognized as the cause of another error', async () => {
  const [error] = await errorsOf('a duplicate primary key');
  expect(isUniqueViolation(new Error('could not be written', { cause: error }))).toBe(true);
});

/** Errors that a server raises itself, from pg, from Prisma's SQL, in a transaction and from a model. */
async function refusalsOf(code: string): Promise<unknown[]> {
  const raise = `RAISE EXCEPTION 'could not extend file' USING ERRCODE = '${code}'`;
  const sql = `DO $$ BEGIN ${raise}; END $$`;
  await database.pool.query(`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${raise}; END $$;
    CREATE OR REPLACE TRIGGER refuse BEFORE INSERT ON things FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const ways = [
    database.pool.query(sql),
    execute(database.prisma, sql),
    database.transaction((tx) => execute(tx, sql)),
    database.prisma.thing.create({ data: { id: 9, name: 'ninth' } }),
    database.transaction((tx) => tx.thing.create({ data: { id: 9, name: 'ninth' } })),
  ];
  const errors = await Promise.all(ways.map(errorOf));
  await database.pool.query('DROP TRIGGER refuse ON things');
  return errors;
}

test.each([
  ['a full disk', '53100', true],
  ['no memory', '53200', true],
  ['too many connections', '53300', true],
  ['a server that is being stopped', '57P01', true],
  ['a disk that fails', '58030', true],
  ['a server that only reads', '25006', true],
  ['a limit of a statement', '53400', false],
  ['a statement that took too long', '57014', false],
  ['a check', '23514', false],
])('%s is recognized as trouble of the server, or not, on each way', async (_what, code, expected) => {
  for (const error of await refusalsOf(code)) expect(isServerTrouble(error)).toBe(expected);
});
