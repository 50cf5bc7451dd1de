import {
  contentFields,
  type Ledger,
  possibleContents,
  possibleCounts,
  type Resource,
  type SignUp,
} from '../load/ledger.ts';
import type { MailFolder } from '../load/mail-folder.ts';
import { type Databases, rowsOf } from './databases.ts';
import { indexBy, type Tally } from './tally.ts';

interface ResourceRow {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly content: string | null;
}

/** Compares the rows with what was acknowledged. */
export async function checkRows(ledger: Ledger, databases: Databases, mail: MailFolder, tally: Tally): Promise<void> {
  for (const [kind, content] of Object.entries(contentFields)) {
    const rows = await rowsOf<ResourceRow>(
      databases[kind === 'campaign' ? 'campaign' : 'organization'] ?? '',
      `SELECT id, account_id, name, ${content} AS content FROM ${kind}s`,
    );
    const byName = indexBy(rows, ({ account_id, name }) => `${account_id} ${name}`);
    for (const resource of ledger.resources)
      if (resource.kind === kind)
        checkResource(resource, byName.get(`${resource.accountId} ${resource.name}`) ?? [], tally);
  }
  await checkSignUps(ledger.signUps, databases.account ?? '', mail, tally);
}

function checkResource(resource: Resource, rows: readonly ResourceRow[], tally: Tally): void {
  const counts = possibleCounts(resource);
  const what = `${resource.name} of ${resource.accountId} (${resource.changes.map((change) => `${change.kind} ${change.outcome}`).join(', ')})`;
  if (rows.length > Math.max(...counts)) {
    const [pile, how] = counts.includes(1) ? [tally.doubled, 'more than once'] : [tally.lost, 'still'];
    // A deletion that was undone counts as lost; a resource whose creation was refused counts as torn.
    (resource.changes[0]?.outcome === 'refused' ? tally.torn : pile).push(
      `${what} is there ${how}: ${rows.length} times`,
    );
  }
  if (rows.length < Math.min(...counts)) tally.lost.push(`${what} is not there`);
  for (const row of rows) {
    if (resource.id !== undefined && row.id !== resource.id)
      tally.lost.push(`${what} has the id ${row.id}, not ${resource.id}`);
    if (!possibleContents(resource).includes(row.content ?? '')) tally.lost.push(`${what} holds "${row.content}"`);
  }
}

interface PersonRow {
  readonly email: string;
  readonly user_id: string;
  readonly name: string;
  readonly account_id: string | null;
  readonly verified: boolean;
  readonly balance: number | null;
  readonly granted: number | null;
  readonly sessions: number;
}

const people = `
  SELECT u.email, u.id AS user_id, u.full_name AS name, a.id AS account_id, u.email_verified_at IS NOT NULL AS verified,
         b.posted::int AS balance,
         (SELECT sum(amount)::int FROM ledger_entries l WHERE l.account_id = a.id) AS granted,
         (SELECT count(*)::int FROM sessions s JOIN refresh_tokens r ON r.session_id = s.id WHERE s.user_id = u.id) AS sessions
  FROM users u LEFT JOIN memberships m ON m.user_id = u.id LEFT JOIN accounts a ON a.id = m.account_id
  LEFT JOIN balances b ON b.account_id = a.id`;

async function checkSignUps(signUps: readonly SignUp[], url: string, mail: MailFolder, tally: Tally): Promise<void> {
  // Count the queue before reading the folder: mail that is sent in between is then in both, not in neither.
  const [queued] = await rowsOf<{ count: number }>(url, 'SELECT count(*)::int AS count FROM queued_mails');
  const written = await mail.addresses();
  const byEmail = indexBy(await rowsOf<PersonRow>(url, people), ({ email }) => email);
  const unwritten: string[] = [];
  for (const signUp of signUps) {
    const rows = byEmail.get(signUp.email) ?? [];
    const [row] = rows;
    if (rows.length > 1) tally.doubled.push(`${signUp.email} is there ${rows.length} times`);
    if (signUp.outcome === 'refused' && row) tally.torn.push(`${signUp.email} was refused and is there`);
    if (signUp.outcome === 'acknowledged' && !isAsAcknowledged(signUp, row))
      tally.lost.push(`The sign-up of ${signUp.email}: ${JSON.stringify(row)}`);
    if (row === undefined) continue;
    if (row.account_id === null || row.balance === null || row.balance !== row.granted)
      tally.torn.push(`A user without a whole account: ${JSON.stringify(row)}`);
    if (!written.has(signUp.email)) unwritten.push(signUp.email);
  }
  // A message whose sending process was killed stays queued for a minute.
  if (unwritten.length > (queued?.count ?? 0)) tally.lost.push(`Mail to ${unwritten.join(', ')}`);
}

function isAsAcknowledged(signUp: SignUp, row: PersonRow | undefined): boolean {
  if (row === undefined || row.user_id !== signUp.userId || row.account_id !== signUp.accountId) return false;
  return row.name === signUp.name && (signUp.sessions === 0 || row.verified) && row.sessions >= signUp.sessions;
}
