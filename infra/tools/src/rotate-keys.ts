import { parseArgs } from 'node:util';
import { keyFilesOf, rotateKeys } from '@attribution/auth';

/**
 * `npm run rotate-keys`: a new key signs tokens from a minute on; those that are out stay valid. Of the installation in
 * LOCAL_DIR, or of the files given by --private and --public. Running processes follow by themselves.
 */
const { values } = parseArgs({
  options: {
    private: { type: 'string' },
    public: { type: 'string' },
    in: { type: 'string', default: '60' },
    help: { type: 'boolean', short: 'h' },
  },
});
const delay = Number(values.in);
if (
  values.help ||
  !Number.isInteger(delay) ||
  delay < 0 ||
  (values.private === undefined) !== (values.public === undefined)
) {
  console.error(`Usage: npm run rotate-keys -- [--in seconds] [--private file --public file]

  --in       when the new key begins to sign; every verifier must have read it by then (60)
  --private  the file that TOKEN_PRIVATE_KEYS names, --public the one that TOKEN_PUBLIC_KEYS names;
             without them, those of the installation in LOCAL_DIR (.local)`);
  process.exit(values.help ? 0 : 2);
}
const { private: signing, public: verifying } = values;
const files =
  signing !== undefined && verifying !== undefined
    ? { private: signing, public: verifying }
    : keyFilesOf(process.env.LOCAL_DIR ?? '.local');
try {
  const { kid, signsFrom, dropped } = await rotateKeys(files, delay);
  console.log(
    `Key ${kid} signs from ${signsFrom.toISOString()}. Tokens of the key before it stay valid until they expire.`,
  );
  for (const old of dropped) console.log(`Key ${old} is gone: its last token has expired.`);
} catch (error) {
  console.error(`Nothing was changed: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
