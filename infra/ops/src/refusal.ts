/** Why a command was not carried out, for the person who gave it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** Of the process: 1 for what is wrong there, 2 for what is wrong with the command. */
  readonly exitCode: 1 | 2;
  readonly title: string;

  constructor(title: string, detail: string, { exitCode = 1, cause }: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(detail, { cause });
    this.title = title;
    this.exitCode = exitCode;
  }
}

/** The command itself is at fault. */
export const misused = (detail: string) => new Refusal('usage', detail, { exitCode: 2 });

/** Codes of pg and of the network for a server that cannot be had. */
const away = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', '57P03']);
const locked = new Set(['28P01', '28000']);
/** No such table, or column. */
const unmigrated = new Set(['42P01', '42703']);

/** Any error as a title and a detail; the values of rows are not in it, and URLs stand without their passwords. */
export function describeFailure(error: unknown): { readonly title: string; readonly detail: string } {
  if (error instanceof Refusal) return { title: error.title, detail: error.message };
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown };
  // Several addresses of one name, none of which answered.
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const said = error instanceof Error ? error.message || error.name : String(error);
  const detail = first instanceof Error ? first.message : said;
  const known = typeof code === 'string' ? code : '';
  if (away.has(known) || /timeout expired|Connection terminated/.test(detail)) return { title: 'no answer', detail };
  if (locked.has(known)) return { title: 'not let in', detail };
  if (unmigrated.has(known)) return { title: 'not migrated', detail: `${detail}; see \`ops migrate --dry-run\`` };
  return { title: 'failed', detail };
}
