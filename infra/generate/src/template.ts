import { indented } from './text.ts';

const placeholder = /^( *)(.*?)\{\{ ([a-z ]+) \}\}/gm;

/**
 * Replaces the placeholders of a template, `{{ name }}`. All lines of a value are indented like its placeholder. Throws if a
 * placeholder has no value, or a value no placeholder.
 */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  const unused = new Set(Object.keys(values));
  const filled = template.replaceAll(placeholder, (_, space: string, before: string, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The template's placeholder "${name}" has no value`);
    unused.delete(name);
    return before === '' ? indented(value, space.length) : `${space}${before}${value}`;
  });
  if (unused.size > 0) throw new Error(`The template has no placeholder for "${[...unused].join('", "')}"`);
  return filled;
}
