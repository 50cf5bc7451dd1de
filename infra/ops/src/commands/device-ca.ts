import { type AuthorityFiles, authorityFilesOf, rotateAuthority } from '@attribution/certificates';
import { command, dryRun } from '../command.ts';
import { misused, Refusal } from '../refusal.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const deviceCa = command({
  name: 'device-ca',
  verbs: ['rotate'],
  summary: 'replace the authority that signs devices’ certificates; no device is locked out',
  help: `Usage: ops device-ca rotate [--authority file --root-key file] [--dry-run]

Makes a new issuing authority below the same root. Running processes sign with it within a second; they need no restart.
Certificates of the former one stay good until they expire, because devices and the ingress trust the root.

  --authority   the file that DEVICE_CA names, --root-key the file with the root's key (PEM), which nothing else needs. The
                default is DEVICE_CA and the key in LOCAL_DIR (.local)
  --dry-run     says until when the new one would be good, and writes nothing`,
  options: { ...dryRun, authority: { type: 'string' }, 'root-key': { type: 'string' } },
  async run({ values, environment, say }) {
    const files = filesOf(values, environment);
    const options = { dryRun: values['dry-run'] };
    const until = await rotateAuthority(files, options).catch((cause: unknown) => {
      const why = cause instanceof Error && cause.name === 'Error' ? cause.message : 'no device authority';
      throw new Refusal('nothing was changed', `${files.authority} and ${files.rootKey}: ${why}`, { cause });
    });
    const ends = until.toISOString();
    say(
      options.dryRun
        ? `A new authority would sign until ${ends}.`
        : `A new authority signs from now on, until ${ends}.`,
    );
    return true;
  },
});

/** The files of the authority, from flags, `DEVICE_CA` or LOCAL_DIR. */
function filesOf(
  flags: { readonly authority?: string | undefined; readonly 'root-key'?: string | undefined },
  { DEVICE_CA, LOCAL_DIR }: Environment,
): Pick<AuthorityFiles, 'authority' | 'rootKey'> {
  const local = authorityFilesOf(LOCAL_DIR || '.local');
  const authority = flags.authority ?? DEVICE_CA ?? local.authority;
  if (authority.trimStart().startsWith('{'))
    throw misused('DEVICE_CA holds an authority itself, which running processes cannot reload: name files.');
  return { authority, rootKey: flags['root-key'] ?? local.rootKey };
}
