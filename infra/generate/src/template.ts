import { indented } from './text.ts';

const hole = /^( *)(.*?)\{\{ ([a-z ]+) \}\}/gm;

/**
 * A template with its holes filled: `{{ name }}`, where what comes has all its lines as far to the right as the hole.
 * Throws where a hole has nothing to be filled with, or something has no hole.
 */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  const unused = new Set(Object.keys(values));
  const filled = template.replaceAll(hole, (_, space: string, before: string, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`The template asks for "${name}", which nobody gives`);
    unused.delete(name);
    return before === '' ? indented(value, space.length) : `${space}${before}${value}`;
  });
  if (unused.size > 0) throw new Error(`The template has no place for "${[...unused].join('", "')}"`);
  return filled;
}
