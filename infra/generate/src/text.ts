import { stringify } from 'yaml';

/** The first line of a generated file: that it is one, from what, and how it is renewed. */
export function header(comment: (line: string) => string, ...sources: readonly string[]): string {
  const from = listed(['services/registry.ts', ...sources]);
  return comment(
    `Generated from ${from}: change ${sources.length > 0 ? 'those' : 'that'}, then run \`npm run generate\`.`,
  );
}

export const inYaml = (line: string) => `# ${line}`;
export const inMarkdown = (line: string) => `<!-- ${line} -->`;

/** A text for a YAML file, in quotes where without them it would be read as something else. */
export const scalar = (value: string): string => stringify(value, { singleQuote: true, lineWidth: 0 }).trimEnd();

/** Every line but the empty ones, so much further to the right. */
export const indented = (text: string, by: number): string => text.replaceAll(/^(?=.)/gm, ' '.repeat(by));

/** A text for a YAML file, in quotes in any case: a port and a number of cores are taken for numbers. */
export const quoted = (value: string): string => `'${value}'`;

/** A list of YAML, one item a line. */
export const items = (values: readonly string[]): string => values.map((value) => `- ${scalar(value)}`).join('\n');

/** A mapping of YAML, one entry a line. */
export const entries = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${scalar(value)}`)
    .join('\n');

/** `account` → `Account`, for a sentence. */
export const titled = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

/** `a`, `a and b`, `a, b and c`. */
export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;

/** `PASSWORD_PEPPER` → `password-pepper`, as keys of secrets are named. */
export const kebab = (variable: string): string => variable.toLowerCase().replaceAll('_', '-');
