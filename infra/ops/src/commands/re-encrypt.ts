import { command, dryRun } from '../command.ts';
import { eachDatabase, plural, withOperations } from '../each-database.ts';
import { notesProgress } from '../progress.ts';
import { misused } from '../refusal.ts';

export const reEncrypt = command({
  name: 're-encrypt',
  summary: 'encrypt stored secrets with the first of SECRET_KEYS, so that an old key can go',
  help: `Usage: ops re-encrypt [service] [--dry-run]

To replace a key: put the new one first in SECRET_KEYS and restart all processes, run this command, and remove the old key
a day later (queued mails may need it until then). Give the command the same SECRET_KEYS. It can be run again at any time.

  --dry-run   counts the secrets that an older key encrypts, and changes none`,
  options: dryRun,
  async run(call) {
    const { say, note, service: named, values } = call;
    let services = 0;
    const good = await eachDatabase(call, await call.databases(), ({ service, ...database }) =>
      withOperations({ service, ...database }, async ({ renewSecrets }) => {
        if (!renewSecrets) return true;
        services++;
        const progress = notesProgress(note);
        const found = await renewSecrets({
          dryRun: values['dry-run'],
          progress: (count) => progress(() => `· ${service}: ${plural(count, 'secret')}`),
        });
        say(`${service}: ${plural(found, 'secret')} ${values['dry-run'] ? 'would be' : 'were'} encrypted anew`);
        return true;
      }),
    );
    if (good && services === 0)
      throw misused(named ? `${named} encrypts no secrets.` : 'None of these services encrypts secrets.');
    return good;
  },
});
