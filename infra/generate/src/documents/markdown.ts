import type { SettingDescription } from '@attribution/runtime';

/** A table of Markdown. Bars in cells are escaped, because a bar ends a cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n').replaceAll('|  |', '| |');
}

export const code = (text: string): string => `\`${text}\``;

/** A table of settings: each variable with its default and description. */
export const settingsTable = (settings: readonly SettingDescription[]): string =>
  table(
    ['variable', 'default', ''],
    settings.map((setting) => [code(setting.name), defaultOf(setting), descriptionOf(setting)]),
  );

/** A default that can be written into the environment is shown as code; one in words (with a space or with code in it) is not. */
function defaultOf({ required, default: value }: SettingDescription): string {
  if (required) return '**required**';
  if (value === undefined) return '';
  return value.includes('`') || /^[a-z]+ [a-z]+/.test(value) ? value : code(value);
}

/** The description, followed by the possible values, unless it mentions them, and by whether it is a secret. */
function descriptionOf({ description, values = [], secret }: SettingDescription): string {
  const isFlag = values.every((value) => value === 'true' || value === 'false');
  const unnamed = values.filter((value) => !description.includes(code(value)));
  return [
    description,
    ...(isFlag || unnamed.length === 0 ? [] : [`One of ${values.map(code).join(', ')}`]),
    ...(secret ? ['Secret'] : []),
  ].join('. ');
}
