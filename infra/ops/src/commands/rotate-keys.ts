import { type KeyFiles, keyFilesOf, rotateKeys } from '@attribution/auth';
import { command, dryRun } from '../command.ts';
import { readCount } from '../numbers.ts';
import { misused, Refusal } from '../refusal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const rotateKeysCommand = command({
  name: 'rotate-keys',
  summary: 'a new key signs tokens six minutes later; nobody is signed out',
  help: `Usage: ops rotate-keys [--in seconds] [--private file --public file] [--dry-run]

A new key signs tokens from then on; those that are out stay valid until they expire. Running processes follow by themselves.

  --in        when the new key begins to sign; every verifier must have read it by then, though clocks be five
              minutes apart (360)
  --private   the file that TOKEN_PRIVATE_KEYS names, --public the one that TOKEN_PUBLIC_KEYS names; without them, those
              variables; without those, the keys of the installation in LOCAL_DIR (.local)
  --dry-run   says which keys would go, and writes nothing`,
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
      for (const old of dropped) say(`Key ${old} would go: its last token has expired.`);
      return true;
    }
    say(`Key ${kid} signs from ${signsFrom.toISOString()}. Tokens of the key before it stay valid until they expire.`);
    for (const old of dropped) say(`Key ${old} is gone: its last token has expired.`);
    return true;
  },
});

/** Which files hold the key sets. Throws `Refusal`. */
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
  if (isSet(signing) || isSet(verifying))
    throw misused('TOKEN_PRIVATE_KEYS or TOKEN_PUBLIC_KEYS is a key set itself, which no process follows: name files.');
  return { private: signing, public: verifying };
}

const isSet = (text: string) => text.trimStart().startsWith('{');
