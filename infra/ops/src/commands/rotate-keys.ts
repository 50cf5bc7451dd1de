import { type KeyFiles, keyFilesOf, rotateKeys } from '@attribution/auth';
import { command, dryRun } from '../command.ts';
import { readCount } from '../numbers.ts';
import { misused, Refusal } from '../refusal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const rotateKeysCommand = command({
  name: 'rotate-keys',
  summary: 'replace the key that signs tokens; nobody is signed out',
  help: `Usage: ops rotate-keys [--in seconds] [--private file --public file] [--dry-run]

Adds a new key, which begins to sign after a delay. Tokens that were issued before stay valid until they expire. Running
processes read the new key from the files; they need no restart.

  --in        seconds until the new key begins to sign (360). Every verifier must have read the key by then, even when
              clocks differ by five minutes
  --private   the file that TOKEN_PRIVATE_KEYS names, --public the one that TOKEN_PUBLIC_KEYS names. The default is those
              variables, or else the keys in LOCAL_DIR (.local)
  --dry-run   says which expired keys would be removed, and writes nothing`,
  options: {
    ...dryRun,
    private: { type: 'string' },
    public: { type: 'string' },
    in: { type: 'string', default: '360' },
  },
  async run({ values, environment, say }) {
    const delay = readCount('--in', values.in);
    const files = keyFiles(values, environment);
    const options = { dryRun: values['dry-run'] };
    const { kid, signsFrom, dropped } = await rotateKeys(files, delay, new Date(), options).catch((cause: unknown) => {
      const why = cause instanceof SyntaxError || !(cause instanceof Error) ? 'no key set' : cause.message;
      throw new Refusal('nothing was changed', `${files.private} and ${files.public}: ${why}`, { cause });
    });
    if (options.dryRun) {
      say(`A new key would sign from ${signsFrom.toISOString()} (${files.private}).`);
      for (const old of dropped) say(`Key ${old} would be removed: its last token has expired.`);
      return true;
    }
    say(`Key ${kid} signs from ${signsFrom.toISOString()}. Tokens of the key before it stay valid until they expire.`);
    for (const old of dropped) say(`Key ${old} was removed: its last token has expired.`);
    return true;
  },
});

/** The files with the key sets, from flags, variables or LOCAL_DIR. Throws `Refusal`. */
function keyFiles(
  flags: { readonly private?: string | undefined; readonly public?: string | undefined },
  environment: Environment,
): KeyFiles {
  const signing = flags.private ?? environment.TOKEN_PRIVATE_KEYS;
  const verifying = flags.public ?? environment.TOKEN_PUBLIC_KEYS;
  if ((flags.private === undefined) !== (flags.public === undefined))
    throw misused('--private and --public go together.');
  if (!signing && !verifying) return keyFilesOf(environment.LOCAL_DIR || '.local');
  if (!signing || !verifying) throw misused('TOKEN_PRIVATE_KEYS and TOKEN_PUBLIC_KEYS go together.');
  if (isKeySet(signing) || isKeySet(verifying))
    throw misused(
      'TOKEN_PRIVATE_KEYS or TOKEN_PUBLIC_KEYS holds a key set itself, which running processes cannot reload: name files.',
    );
  return { private: signing, public: verifying };
}

const isKeySet = (text: string) => text.trimStart().startsWith('{');
