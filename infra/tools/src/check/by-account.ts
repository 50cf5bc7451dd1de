import { globSync, lstatSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../workspace.ts';

/**
 * Holds services to keys that begin with whom a row belongs to, so that their databases can be distributed by account (ADR
 * 36): each table has `account_id`, each unique key holds it, and each statement about such a table names it. The tables
 * that every service has (outbox, inbox and the like) stay where the statements are sent to.
 */
const distributable = ['events'];

/** Statements that are about rows of all accounts. */
const ofAllAccounts: Readonly<Record<string, string>> = {
  'services/events/src/partitions/partition.store.ts': 'partitions are of all accounts',
};

const column = 'account_id';
const holds = (text: string) => text.includes(column);

/** What a script of a migration says about a table. */
interface Table {
  readonly name: string;
  readonly body: string;
}

const tablesIn = (sql: string): Table[] =>
  [...sql.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?"?(\w+)"?\s*\(([\s\S]*?)\n\)/g)].map(
    ([, name = '', body = '']) => ({ name, body }),
  );

/** The tables that a script makes. */
export const tableNames = (sql: string): string[] => tablesIn(sql).map(({ name }) => name);

/** What in a script could not be distributed by account. */
export function faultsOfScript(sql: string): string[] {
  const ofTables = tablesIn(sql).flatMap(({ name, body }) => {
    const keys = [...body.matchAll(/(PRIMARY KEY|UNIQUE)(?:\s+NULLS NOT DISTINCT)?\s*\(([^)]*)\)/g)];
    return [
      ...(holds(body) ? [] : [`the table ${name} has no ${column}`]),
      ...keys.filter(([, , columns = '']) => !holds(columns)).map(([key]) => `${name}: ${key} holds no ${column}`),
      ...[...body.matchAll(/^.*\b(?:PRIMARY KEY|UNIQUE)\b(?!.*\().*$/gm)].map(
        ([line]) => `${name}: ${line.trim()} holds no ${column}`,
      ),
    ];
  });
  const alone =
    /(CREATE UNIQUE INDEX[^;]*?|ADD (?:CONSTRAINT "?\w+"? )?(?:PRIMARY KEY|UNIQUE)[^;(]*)\(([^;]*?)\)\s*[;\s]/g;
  const later = [...sql.matchAll(alone)].filter(([, , columns = '']) => !holds(columns));
  return [...ofTables, ...later.map(([key]) => `${key.trim().replaceAll(/\s+/g, ' ')} holds no ${column}`)];
}

/** Texts in backticks, with expressions that may hold such texts themselves, and texts in quotes. */
const texts =
  /`(?:[^`\\$]|\\[\s\S]|\$(?!\{)|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\})*`|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g;
/** Insertions need no look: their columns are those of the table. */
const chains = /\.(?:selectFrom|updateTable|deleteFrom)\(\s*['"`](\w+)[\s\S]*?\.execute\w*\(/g;

/** The statements in a source file that are about one of the tables, and name no account. */
export function faultsOfSource(source: string, tables: readonly string[]): string[] {
  const about = new RegExp(
    String.raw`(?<!extract\(\w+ )\b(?:FROM|INTO|UPDATE|JOIN)\s+(?:ONLY\s+)?(?:\$\{|"?(?:${tables.join('|')})\b)`,
  );
  const statements = [
    ...[...source.matchAll(texts)].map(([text]) => text).filter((text) => about.test(text)),
    ...[...source.matchAll(chains)].filter(([, table = '']) => tables.includes(table)).map(([chain]) => chain),
  ];
  const short = (text: string) => text.replaceAll(/\s+/g, ' ').slice(0, 80);
  return statements.filter((text) => !holds(text)).map((text) => `a statement names no ${column}: ${short(text)}`);
}

/** Finds what would keep a service's database from being distributed by account. */
export async function findUndistributable(): Promise<string | undefined> {
  const faults = distributable.flatMap((service) => {
    const files = (pattern: string) => globSync(`services/${service}/${pattern}`, { cwd: root }).toSorted();
    const read = (file: string) => readFileSync(join(root, file), 'utf8');
    // Migrations of every service are links.
    const isOwn = (file: string) => !lstatSync(join(root, dirname(file))).isSymbolicLink();
    const scripts = files('prisma/migrations/*/migration.sql').filter(isOwn);
    const tables = scripts.flatMap((file) => tableNames(read(file)));
    if (tables.length === 0) return [`${service}: no table was found, so nothing was checked`];
    const sources = files('src/**/*.ts').filter((file) => !(file.includes('/generated/') || file in ofAllAccounts));
    return [
      ...scripts.flatMap((file) => faultsOfScript(read(file)).map((fault) => `${file}: ${fault}`)),
      ...sources.flatMap((file) => faultsOfSource(read(file), tables).map((fault) => `${file}: ${fault}`)),
    ];
  });
  return faults.length === 0 ? undefined : faults.join('\n');
}
