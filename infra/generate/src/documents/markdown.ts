import type { SettingDescription } from '@attribution/runtime';

/** A table of Markdown. A bar in a cell would end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n').replaceAll('|  |', '| |');
}

export const code = (text: string): string => `\`${text}\``;

/** Configuration: each variable, what holds without it, and what it is for. */
export const settingsTable = (settings: readonly SettingDescription[]): string =>
  table(
    ['variable', 'default', ''],
    settings.map((setting) => [code(setting.name), defaultOf(setting), descriptionOf(setting)]),
  );

/** A default in words has a space in it or a word in code; one that could be written into the environment is code itself. */
function defaultOf({ required, default: value }: SettingDescription): string {
  if (required) return '**required**';
  if (value === undefined) return '';
  return value.includes('`') || /^[a-z]+ [a-z]+/.test(value) ? value : code(value);
}

/** Behind what the setting is for: its few values, unless the text names them, and whether it is a secret. */
function descriptionOf({ description, values = [], secret }: SettingDescription): string {
  const isFlag = values.every((value) => value === 'true' || value === 'false');
  const unnamed = values.filter((value) => !description.includes(code(value)));
  return [
    description,
    ...(isFlag || unnamed.length === 0 ? [] : [`One of ${values.map(code).join(', ')}`]),
    ...(secret ? ['Secret'] : []),
  ].join('. ');
}
