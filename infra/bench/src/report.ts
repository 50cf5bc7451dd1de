import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem, type } from 'node:os';

/** The machine, versions and date of the figures, as one paragraph of Markdown. */
export function machine(): string {
  const [cpu] = cpus();
  const gib = Math.round(totalmem() / 2 ** 30);
  const date = new Date().toISOString().slice(0, 10);
  return `${date} · ${cpus().length} × ${cpu?.model.trim()} · ${gib} GiB · ${type()} ${release()} · Node ${process.versions.node} · commit ${commit()}`;
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
