import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { loadServices } from '@attribution/registry';
import { generate } from './generate.ts';
import { differencesIn, writeTree } from './tree.ts';

/**
 * `npm run generate`: writes all files that are generated from the registry of services. `-- --check` writes nothing; it
 * names each file that is out of date and exits with 1. `--root` is the folder of another checkout.
 */
const { values } = parseArgs({
  options: { check: { type: 'boolean' }, root: { type: 'string', default: resolve(import.meta.dirname, '../../..') } },
});
const root = resolve(values.root);
const generated = await generate(await loadServices());

if (values.check) {
  const differences = await differencesIn(root, generated);
  for (const { file, detail } of differences) console.log(`${file}: ${detail}`);
  if (differences.length > 0) console.log('\nRun `npm run generate`, review the changes and commit them.');
  process.exitCode = differences.length > 0 ? 1 : 0;
} else {
  const changed = await writeTree(root, generated);
  for (const file of changed) console.log(file);
  console.log(`${generated.files.size} files, ${changed.length} changed`);
}
