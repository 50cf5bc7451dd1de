type Environment = Readonly<Record<string, string | undefined>>;

/** Names of variables with secret values. */
const secretName = /SECRET|PASSWORD|PEPPER|PRIVATE_KEYS/;
/** A URL with a password: `scheme://user:password@`. */
const passwordInUrl = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s/@]+@/gi;
/** Shorter values are not redacted, because they could be parts of ordinary words. */
const minLength = 8;
const mask = '***';

/** Creates a function that masks passwords in URLs and the values of secret variables in any text. */
export function createRedactor(environment: Environment): (text: string) => string {
  const secrets = Object.entries(environment).flatMap(([name, value]) =>
    secretName.test(name) && value && !isPath(value) ? value.split(',') : [],
  );
  const hidden = secrets.filter((value) => value.length >= minLength).sort((a, b) => b.length - a.length);
  return (text) => {
    let shown = text.replaceAll(passwordInUrl, `$1${mask}@`);
    for (const value of hidden) shown = shown.replaceAll(value, mask);
    return shown;
  };
}

/** A variable for a key set may hold a file's name instead, which commands do show. */
const isPath = (value: string) => /^[./~].*\.json$/.test(value);

const secretField = /^(.+_)?(password|secret|code|token|authorization|cookie|email)$/i;

/** Hides the fields of a value that logs hide too. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      secretField.test(name) && inner !== null ? '[redacted]' : withoutSecrets(inner),
    ]),
  );
}
