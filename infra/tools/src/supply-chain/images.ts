import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../workspace.ts';

/** The files that name images of others. `k8s` names our own alone. */
const files = ['Dockerfile', 'docker-compose.yml', 'infra/generate/templates/docker-compose.yml'];

/** The images of others in a Dockerfile or a Compose file that have no digest: whoever has the registry may move a tag. */
export function findWithoutDigest(text: string): string[] {
  const stages = new Set(Array.from(text.matchAll(/^FROM .+ AS (\S+)$/gim), ([, stage]) => stage));
  const named = text.matchAll(/^(?:# syntax=|FROM (?:--\S+ )?|\s+image: )(\S+)/gim);
  const images = Array.from(named, ([, image = '']) => image).filter((image) => !stages.has(image) && image !== own);
  return [...new Set(images.filter((image) => !/@sha256:[0-9a-f]{64}$/.test(image)))];
}

/** Built from this repository. */
const own = 'attribution-platform';

/** Looks at all files. An image without a digest is a warning, and fails if it should insist. */
export async function checkImages({ insist = false }: { readonly insist?: boolean }): Promise<string | undefined> {
  const texts = await Promise.all(files.map((file) => readFile(join(root, file), 'utf8')));
  return complaintAbout([...new Set(texts.flatMap(findWithoutDigest))], insist);
}

export function complaintAbout(images: readonly string[], insist: boolean): string | undefined {
  if (images.length === 0) return undefined;
  const complaint = `These images have no digest, which the update bot (.github/renovate.json) adds: ${images.join(', ')}`;
  if (insist) return complaint;
  console.error(`\n!! ${complaint}\n`);
  return undefined;
}
