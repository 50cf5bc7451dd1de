import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { secretsIn } from './secrets.ts';

/**
 * `npm run compose`: generates missing secrets of docker-compose.yml in .env, builds the image and starts everything.
 * `npm run compose -- <arguments>`: generates the secrets and runs `docker compose <arguments>`.
 */
const root = resolve(import.meta.dirname, '../../..');
await secretsIn(join(root, '.env'), (line) => console.error(`· ${line}`));
const given = process.argv.slice(2);
for (const args of given.length > 0 ? [given] : [['build'], ['up', '--detach']]) {
  const { status, error } = spawnSync('docker', ['compose', ...args], { cwd: root, stdio: 'inherit' });
  if (error) console.error(`docker could not be run: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
