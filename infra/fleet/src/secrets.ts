import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { generateInternalKeys } from '@attribution/auth';
import { programNames } from '@attribution/image';
import { issueToIngress, newSecrets } from '@attribution/local';
import { registeredNames } from '@attribution/registry';

type Values = Readonly<Record<string, string>>;

const secret = () => randomBytes(24).toString('base64url');

/** Generates development secrets by the names of docker-compose.yml. Those of one group must be generated together. */
function newSecretGroups(): Values[] {
  const { token_keys, password_pepper, secret_key, device_ca } = newSecrets();
  const internal = generateInternalKeys();
  const names = registeredNames.map((name) => [name, name.toUpperCase()] as const);
  const callers = programNames.map((name) => [name, name.toUpperCase()] as const);
  return [
    { TOKEN_PRIVATE_KEYS: token_keys.private, TOKEN_PUBLIC_KEYS: token_keys.public },
    {
      INTERNAL_PUBLIC_KEYS: JSON.stringify(internal.public),
      ...Object.fromEntries(
        callers.map(([name, upper]) => [`${upper}_INTERNAL_PRIVATE_KEYS`, JSON.stringify(internal.private[name])]),
      ),
    },
    { PASSWORD_PEPPER: password_pepper },
    { SECRET_KEYS: secret_key },
    deviceSecrets(device_ca),
    { STRIPE_WEBHOOK_SECRETS: `whsec_${secret()}` },
    { POSTGRES_PASSWORD: secret() },
    ...names.map(([, upper]) => ({ [`${upper}_DATABASE_PASSWORD`]: secret() })),
    { GRAFANA_PASSWORD: secret() },
  ];
}

/** The authority of devices, its root, and what it has issued to the ingress. PEM is one line, because .env has lines. */
function deviceSecrets(authority: string): Values {
  const { cert, key, root } = issueToIngress(authority, ['localhost', '127.0.0.1', 'ingress']);
  const line = (pem: string) => pem.trimEnd().replaceAll('\n', '\\n');
  return {
    DEVICE_CA: authority,
    DEVICE_CA_CERTIFICATES: line(root),
    DEVICE_TLS_CERTIFICATE: line(cert),
    DEVICE_TLS_KEY: line(key),
  };
}

/** The root that devices trust, as PEM. */
export const deviceRootIn = (values: Values): string =>
  `${(values.DEVICE_CA_CERTIFICATES ?? '').replaceAll('\\n', '\n')}\n`;

/** The secrets that docker-compose.yml requires, as ${NAME:?why}. It is generated from the settings of the services. */
function requiredNames(): string[] {
  const file = readFileSync(join(import.meta.dirname, '../../../docker-compose.yml'), 'utf8');
  return Array.from(file.matchAll(/\$\{(\w+):\?/g), ([, name = '']) => name);
}

/** Returns the known secrets, and generates every group that is incomplete. A secret of no special form is random text. */
export function completeSecrets(known: Values): Values {
  const groups = newSecretGroups();
  const grouped = new Set(groups.flatMap((group) => Object.keys(group)));
  const others = requiredNames().filter((name) => !grouped.has(name));
  const all = [...groups, ...others.map((name) => ({ [name]: secret() }))];
  const incomplete = all.filter((group) => Object.keys(group).some((name) => !known[name]));
  return Object.assign({}, known, ...incomplete) as Values;
}

/**
 * Reads the secrets from a file that Compose reads too. Values in `given` take precedence, as with Compose, and are not
 * written to the file. Missing secrets are generated and added to the file.
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
  const existing = { ...known, ...given } as Values;
  const values = completeSecrets(existing);
  const generated = Object.fromEntries(Object.entries(values).filter(([name, value]) => value !== existing[name]));
  if (Object.keys(generated).length === 0) return values;
  say(`Generating ${text ? 'missing ' : ''}secrets for development on this machine: ${file}`);
  const lines = Object.entries({ ...known, ...generated }).map(([name, value]) => `${name}='${value}'\n`);
  // Renamed when complete, because a truncated secret would be taken for a whole one.
  await writeFile(
    `${file}.new`,
    `# Generated secrets, for development only. Never commit this file.\n${lines.join('')}`,
    { mode: 0o600 },
  );
  await rename(`${file}.new`, file);
  return values;
}
