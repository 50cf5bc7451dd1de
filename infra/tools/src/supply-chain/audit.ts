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

/** The outcome of `pnpm audit --json`: known vulnerabilities, no registry to ask, or output that cannot be parsed. */
export type Audited =
  | { readonly vulnerabilities: readonly string[] }
  | { readonly unavailable: string }
  | { readonly unparsed: string };

/**
 * Reads the output of `pnpm audit`. A registry that is down or has no advisories is not a failure. Output that cannot be
 * parsed is one, because it may hide vulnerabilities.
 */
export function readAudit({ out, err }: { readonly out: string; readonly err: string }): Audited {
  const report = Report.safeParse(asJson(out));
  if (!report.success) return failureOf(`${out} ${err}`);
  return {
    vulnerabilities: Object.values(report.data.advisories).map(({ module_name, severity, title, url, findings }) => {
      const [first] = findings;
      const where = first ? `@${first.version} (${first.paths[0] ?? ''})` : '';
      return `${severity}: ${module_name}${where}: ${title}\n  ${url}`;
    }),
  };
}

/** Recognises pnpm's error messages, which it wraps and frames. */
function failureOf(output: string): Audited {
  const text = output.replaceAll(/[\s│]+/g, ' ').trim();
  if (/\bERR_PNPM_AUDIT_ENDPOINT_NOT_EXISTS\b/.test(text)) return { unavailable: 'it responds with 404' };
  const status = /\bERR_PNPM_AUDIT_BAD_RESPONSE\b.* responded with ([45]\d\d)\b/.exec(text)?.[1];
  if (status !== undefined) return { unavailable: `it responds with ${status}` };
  if (/\bERR_PNPM_AUDIT_BAD_RESPONSE\b.* Failed to request the audit endpoint\b/.test(text))
    return { unavailable: 'it cannot be reached' };
  return { unparsed: text.slice(0, 500) || 'there was no output' };
}

function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const entry = /^\s*-\s+(?<id>GHSA-[\w-]+)\s*(?:#\s*until (?<until>\d{4}-\d\d-\d\d): (?<why>\S.*))?$/;

/** Checks the vulnerabilities that `pnpm-workspace.yaml` ignores: each must have a reason and an end date. */
export function findStaleIgnores(workspaceFile: string, today: string): string[] {
  const lines = workspaceFile.split('\n').filter((line) => /^\s*-\s+GHSA-/.test(line));
  return lines.flatMap((line) => {
    const { id = line.trim(), until, why } = entry.exec(line)?.groups ?? {};
    if (until === undefined || why === undefined) return [`${id}: needs a comment, \`# until <date>: why\``];
    return until < today ? [`${id}: was ignored until ${until} (${why}). Review it again.`] : [];
  });
}
