import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { generateInternalKeys } from '@attribution/auth';
import { newSecrets } from '@attribution/local';
import { registeredNames } from '@attribution/registry';

type Values = Readonly<Record<string, string>>;

const secret = () => randomBytes(24).toString('base64url');

/** Secrets of no worth to anybody, by the names of docker-compose.yml. Those of one part belong together. */
function newParts(): Values[] {
  const { token_keys, password_pepper, secret_key } = newSecrets();
  const internal = generateInternalKeys();
  const names = registeredNames.map((name) => [name, name.toUpperCase()] as const);
  return [
    { TOKEN_PRIVATE_KEYS: token_keys.private, TOKEN_PUBLIC_KEYS: token_keys.public },
    {
      INTERNAL_PUBLIC_KEYS: JSON.stringify(internal.public),
      ...Object.fromEntries(
        names.map(([name, upper]) => [`${upper}_INTERNAL_PRIVATE_KEYS`, JSON.stringify(internal.private[name])]),
      ),
    },
    { PASSWORD_PEPPER: password_pepper },
    { SECRET_KEYS: secret_key },
    { STRIPE_WEBHOOK_SECRETS: `whsec_${secret()}` },
    { POSTGRES_PASSWORD: secret() },
    ...names.map(([, upper]) => ({ [`${upper}_DATABASE_PASSWORD`]: secret() })),
    { GRAFANA_PASSWORD: secret() },
  ];
}

/** What there is, and anew every part of which something is missing. */
export function completeSecrets(known: Values): Values {
  const lacking = newParts().filter((part) => Object.keys(part).some((name) => !known[name]));
  return Object.assign({}, known, ...lacking) as Values;
}

/**
 * The secrets in a file that Compose reads too, beside what is given; the file is made, or completed, where something is
 * in neither. What is given counts before the file, as with Compose, and is not written down.
 */
export async function secretsIn(
  file: string,
  say: (line: string) => void,
  given: Readonly<Record<string, string | undefined>> = {},
): Promise<Values> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const known = parseEnv(text) as Values;
  const there = { ...known, ...given } as Values;
  const values = completeSecrets(there);
  const made = Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== there[name]));
  if (Object.keys(made).length === 0) return values;
  say(`${text ? 'Completing' : 'Making'} the secrets of this machine, for development alone: ${file}`);
  const lines = Object.entries({ ...known, ...made }).map(([name, value]) => `${name}='${value}'\n`);
  // Whole or not at all: half a file of secrets would be believed.
  await writeFile(
    `${file}.new`,
    `# For development alone. Made by a program, and never committed.\n${lines.join('')}`,
    { mode: 0o600 },
  );
  await rename(`${file}.new`, file);
  return values;
}
