import { stringify } from 'yaml';

/** The first line of a generated file: its sources, and how to regenerate it. */
export function header(comment: (line: string) => string, ...sources: readonly string[]): string {
  const from = listed(['services/registry.ts', ...sources]);
  return comment(
    `Generated from ${from}: change ${sources.length > 0 ? 'those' : 'that'}, then run \`npm run generate\`.`,
  );
}

export const inYaml = (line: string) => `# ${line}`;
export const inMarkdown = (line: string) => `<!-- ${line} -->`;

/** A scalar of YAML, quoted only if it would otherwise be read as something else. */
export const scalar = (value: string): string => stringify(value, { singleQuote: true, lineWidth: 0 }).trimEnd();

/** Indents every line except empty ones. */
export const indented = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, ' '.repeat(by));

/** A quoted scalar of YAML, for ports and numbers of cores, which would otherwise be read as numbers. */
export const quoted = (value: string): string => `'${value}'`;

/** A list of YAML, with one item per line. */
export const items = (values: readonly string[]): string => values.map((value) => `- ${scalar(value)}`).join('\n');

/** A mapping of YAML, with one entry per line. */
export const entries = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${scalar(value)}`)
    .join('\n');

/** `account` → `Account`, for a sentence. */
export const titled = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `a`, `a and b`, `a, b and c`. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** `PASSWORD_PEPPER` → `password-pepper`, the form of a secret's keys. */
export const kebab = (variable: string): string => variable.toLowerCase().replaceAll('_', '-');
