import { z } from 'zod';

const Report = z.object({
  advisories: z.record(
    z.string(),
    z.object({
      module_name: z.string(),
      severity: z.string(),
      title: z.string(),
      url: z.string(),
      findings: z.array(z.object({ version: z.string(), paths: z.array(z.string()) })),
    }),
  ),
});

/** What `pnpm audit --json` says: which holes are known, that nobody could be asked, or something that is not understood. */
export type Audited =
  | { readonly holes: readonly string[] }
  | { readonly unasked: string }
  | { readonly unread: string };

/** A registry that is away, or that keeps no advisories, is not a finding; an answer that cannot be read is one: it may hide others. */
export function readAudit({ out, err }: { readonly out: string; readonly err: string }): Audited {
  const report = Report.safeParse(asJson(out));
  if (!report.success) return refusalOf(`${out} ${err}`);
  return {
    holes: Object.values(report.data.advisories).map(({ module_name, severity, title, url, findings }) => {
      const [first] = findings;
      const where = first ? `@${first.version} (${first.paths[0] ?? ''})` : '';
      return `${severity}: ${module_name}${where}: ${title}\n  ${url}`;
    }),
  };
}

/** By pnpm's own words, which it wraps and frames for people. */
function refusalOf(said: string): Audited {
  const text = said.replaceAll(/[\s│]+/g, ' ').trim();
  if (/\bERR_PNPM_AUDIT_ENDPOINT_NOT_EXISTS\b/.test(text)) return { unasked: 'it answers 404' };
  const status = /\bERR_PNPM_AUDIT_BAD_RESPONSE\b.* responded with ([45]\d\d)\b/.exec(text)?.[1];
  if (status !== undefined) return { unasked: `it answers ${status}` };
  if (/\bERR_PNPM_AUDIT_BAD_RESPONSE\b.* Failed to request the audit endpoint\b/.test(text))
    return { unasked: 'it is not reached' };
  return { unread: text.slice(0, 500) || 'nothing was said' };
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const entry = /^\s*-\s+(?<id>GHSA-[\w-]+)\s*(?:#\s*until (?<until>\d{4}-\d\d-\d\d): (?<why>\S.*))?$/;

/** What is wrong with the holes that `pnpm-workspace.yaml` passes over: each has a reason, and an end. */
export function findStaleIgnores(workspaceFile: string, today: string): string[] {
  const lines = workspaceFile.split('\n').filter((line) => /^\s*-\s+GHSA-/.test(line));
  return lines.flatMap((line) => {
    const { id = line.trim(), until, why } = entry.exec(line)?.groups ?? {};
    if (until === undefined || why === undefined) return [`${id}: needs a comment, \`# until <date>: why\``];
    return until < today ? [`${id}: was passed over until ${until}, as ${why}. Judge anew.`] : [];
  });
}
