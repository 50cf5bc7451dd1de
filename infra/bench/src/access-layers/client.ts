import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../run.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const organization = join(root, 'services/organization');

const generator = `generator client {
  provider               = "prisma-client"
  output                 = "../client"
  runtime                = "nodejs"
  moduleFormat           = "esm"
  generatedFileExtension = "ts"
  importFileExtension    = "ts"
  previewFeatures        = ["typedSql"]
}
`;

/** Generates Organization's client a second time, with typed SQL, into a folder of its own. Returns the file to import. */
export async function generateClient(): Promise<string> {
  const folder = join(root, '.cache/access-layers');
  await rm(folder, { recursive: true, force: true });
  const schema = join(folder, 'schema');
  await cp(join(organization, 'prisma/schema'), schema, { recursive: true, dereference: true });
  for (const name of await readdir(schema)) {
    const text = await readFile(join(schema, name), 'utf8');
    await writeFile(join(schema, name), text.replace(/^generator client \{[^}]*\}\n/m, generator));
  }
  // The generated client imports Prisma's runtime, which is installed for the service.
  const resolve = createRequire(join(organization, 'package.json')).resolve;
  await mkdir(join(folder, 'node_modules/@prisma'), { recursive: true });
  await symlink(dirname(resolve('@prisma/client/package.json')), join(folder, 'node_modules/@prisma/client'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  const prisma = createRequire(join(root, 'package.json')).resolve('prisma/build/index.js');
  // Generating needs no engine, but Prisma looks for one (ADR 3).
  const engine = `PRISMA_SCHEMA_ENGINE_BINARY=${process.execPath}`;
  await run('env', [engine, 'CHECKPOINT_DISABLE=1', process.execPath, prisma, 'generate', '--schema', schema]);
  return join(folder, 'client/client.ts');
}
