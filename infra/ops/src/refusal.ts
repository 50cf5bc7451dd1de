/** An error with a title and a detail to show to the operator: why a command was not carried out. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  /** Of the process: 1 if something is wrong with the platform, 2 if something is wrong with the command. */
  readonly exitCode: 1 | 2;
  readonly title: string;

  constructor(title: string, detail: string, { exitCode = 1, cause }: { exitCode?: 1 | 2; cause?: unknown } = {}) {
    super(detail, { cause });
    this.title = title;
    this.exitCode = exitCode;
  }
}

/** Something is wrong with the command itself. */
export const misused = (detail: string) => new Refusal('usage', detail, { exitCode: 2 });

/** Error codes of pg and of the network for a server that cannot be reached. */
const unreachable = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  '57P03',
]);
const unauthorized = new Set(['28P01', '28000']);
/** No such table or column. */
const unmigrated = new Set(['42P01', '42703']);

/** Describes any error by a title and a detail. */
export function describeFailure(error: unknown): { readonly title: string; readonly detail: string } {
  if (error instanceof Refusal) return { title: error.title, detail: error.message };
  const { code, errors } = (error ?? {}) as { code?: unknown; errors?: unknown };
  // An AggregateError: the name has several addresses, and none of them answered.
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const message = error instanceof Error ? error.message || error.name : String(error);
  const detail = first instanceof Error ? first.message : message;
  const known = typeof code === 'string' ? code : '';
  if (unreachable.has(known) || /timeout expired|Connection terminated/.test(detail))
    return { title: 'no answer', detail };
  if (unauthorized.has(known)) return { title: 'access denied', detail };
  if (unmigrated.has(known)) return { title: 'not migrated', detail: `${detail}; see \`ops migrate --dry-run\`` };
  return { title: 'failed', detail };
}
