import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCompose } from '../src/compose-file.ts';
import { completeSecrets } from '../src/secrets.ts';

export const root = join(import.meta.dirname, '../../..');
export const composeText = readFileSync(join(root, 'docker-compose.yml'), 'utf8');

/** Generated secrets, as on a new machine. */
export const secrets = completeSecrets({});
export const compose = readCompose(composeText, secrets);
