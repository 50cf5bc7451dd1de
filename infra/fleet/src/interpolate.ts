type Values = Readonly<Record<string, string | undefined>>;

/** `$$`, `${NAME}`, and the latter with what holds where it is not set (`-`, `?`) or empty as well (`:-`, `:?`). */
const reference = /\$(?:(\$)|\{(\w+)(?:(:?[-?])([^}]*))?\}|(\w+))/g;

/** The names of the variables in a text of a Compose file. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(reference)].flatMap(([, , braced, , , bare]) => braced ?? bare ?? []);
}

/** Puts variables into a text, by the rules of Compose. Throws with the text's own words where a required one is missing. */
export function interpolate(text: string, values: Values): string {
  return text.replaceAll(reference, (_, dollar?: string, braced?: string, rule = '', word = '', bare?: string) => {
    if (dollar) return dollar;
    const name = braced ?? bare ?? '';
    const value = values[name];
    if (rule.startsWith(':') ? value : value !== undefined) return value ?? '';
    if (rule.endsWith('?')) throw new Error(`${name} ${word || 'is not set'}`);
    return word;
  });
}
