type Environment = Readonly<Record<string, string | undefined>>;

/** Variables whose values are nobody's to read. */
const secretName = /SECRET|PASSWORD|PEPPER|PRIVATE_KEYS/;
/** `scheme://user:` and `@` of a URL, around its password. */
const passwordInUrl = /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s/@]+@/gi;
/** What is shorter would be found in words. */
const shortest = 8;
const instead = '***';

/** Takes out of any text what must not be shown: passwords in URLs, and the values of secret variables. */
export function createRedactor(environment: Environment): (text: string) => string {
  const secrets = Object.entries(environment).flatMap(([name, value]) =>
    secretName.test(name) && value && !isPath(value) ? value.split(',') : [],
  );
  const hidden = secrets.filter((value) => value.length >= shortest).sort((a, b) => b.length - a.length);
  return (text) => {
    let shown = text.replaceAll(passwordInUrl, `$1${instead}@`);
    for (const value of hidden) shown = shown.replaceAll(value, instead);
    return shown;
  };
}

/** A key set may be the name of a file, which commands do tell of. */
const isPath = (value: string) => /^[./~].*\.json$/.test(value);

const secretField = /^(.+_)?(password|secret|code|token|authorization|cookie|email)$/i;

/** The same value with the fields hidden that logs hide too. */
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
