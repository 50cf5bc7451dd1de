type Values = Readonly<Record<string, string | undefined>>;

/** `$$`, `$NAME` and `${NAME}`, the latter with a default or an error if unset (`-`, `?`), or if unset or empty (`:-`, `:?`). */
const reference = /\$(?:(\$)|\{(\w+)(?:(:?[-?])([^}]*))?\}|(\w+))/g;

/** The names of the variables in a text of a Compose file. */
export function variablesIn(text: string): string[] {
  return [...text.matchAll(reference)].flatMap(([, , braced, , , bare]) => braced ?? bare ?? []);
}

/** Substitutes variables in a text by the rules of Compose. If a required one is missing, it throws the text's own message. */
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
