import { parseArgs } from 'node:util';
import { writeArtifacts } from './supply-chain/artifacts.ts';
import { checkImages } from './supply-chain/images.ts';
import { checkAudit, checkLicences } from './supply-chain/steps.ts';

/**
 * `npm run supply-chain`: checks our dependencies for known vulnerabilities and for licences, and images for digests; and writes
 * bills of materials to `.artifacts/`. With `--insist` it also fails if no registry could be asked, or an image has no digest.
 */
const { values } = parseArgs({ options: { insist: { type: 'boolean', default: false } } });
const found = [await checkAudit(values), await checkLicences(), await checkImages(values)];
const complaints = found.filter((complaint) => complaint !== undefined);
for (const complaint of complaints) console.error(`\n${complaint}\n`);
for (const name of await writeArtifacts()) console.log(name);
process.exitCode = complaints.length === 0 ? 0 : 1;
