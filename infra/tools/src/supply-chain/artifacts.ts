import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { root } from '../workspace.ts';
import { licenceList } from './licences.ts';
import { pnpm } from './pnpm.ts';
import { listLicences, shippedFilter, succeeded } from './steps.ts';

/** Uploaded by each run of CI; ignored by git. */
const artifactsFolder = join(root, '.artifacts');

/**
 * Writes bills of materials (CycloneDX) from the lockfile and lists of licences, each for the image and for everything.
 * Resolves to the names of the files.
 */
export async function writeArtifacts(): Promise<string[]> {
  await mkdir(artifactsFolder, { recursive: true });
  const bill = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
  const { all, shipped } = await listLicences();
  const texts = {
    'sbom.image.cdx.json': succeeded(await pnpm(...shippedFilter, ...bill, '--prod', '--no-optional')),
    'sbom.cdx.json': succeeded(await pnpm(...bill)),
    'licences.image.tsv': licenceList(shipped),
    'licences.tsv': licenceList(all),
  };
  for (const [name, text] of Object.entries(texts)) await writeFile(join(artifactsFolder, name), text);
  return Object.keys(texts).map((name) => relative(root, join(artifactsFolder, name)));
}
