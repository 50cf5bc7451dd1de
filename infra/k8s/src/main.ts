import { readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { check } from './check.ts';
import { loadPrograms } from './load-programs.ts';
import { provideValidator, validate } from './validator.ts';

/**
 * `npm run k8s [-- <kustomization>…]`: renders the overlays or the given kustomizations, checks them with the API server's own
 * validation and with our rules, and exits with 1 on any complaint. It needs Go to build the validator, but no cluster.
 */
const root = resolve(import.meta.dirname, '../../..');
const overlays = join(root, 'k8s/overlays');
const programs = await loadPrograms();
const validator = await provideValidator(join(root, '.cache'), (line) => console.error(`· ${line}`));
if (validator === undefined) {
  console.error('The Kubernetes manifests are not checked: install Go 1.26 or newer.');
  process.exit(process.env.CI === 'true' ? 1 : 0);
}
const named = process.argv.slice(2).map((path) => resolve(path));
const directories = named.length > 0 ? named : readdirSync(overlays).map((name) => join(overlays, name));
let good = true;
for (const { directory, manifests, complaints } of await validate(validator, directories)) {
  const all = [...complaints, ...check({ manifests, programs })];
  for (const { rule, resource, detail } of all) console.log(`${rule}: ${resource}: ${detail}`);
  console.log(`${relative(root, directory)}: ${manifests.length} documents, ${all.length} complaints`);
  good &&= all.length === 0;
}
process.exitCode = good ? 0 : 1;
