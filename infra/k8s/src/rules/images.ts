import { containersOf, nameOf, workloadsOf } from '../manifests.ts';
import type { Rule } from '../rule.ts';

/** Every container runs the same image, pinned to one release. */
export const images: Rule = ({ manifests }) => {
  const used = workloadsOf(manifests).flatMap((workload) =>
    containersOf(workload).map(({ image = '' }) => ({ resource: nameOf(workload), image })),
  );
  const [first] = used;
  return used.flatMap(({ resource, image }) => {
    if (!isPinned(image))
      return [{ resource, detail: `the image ${image} is of no release: give a version or a digest` }];
    if (image !== first?.image)
      return [{ resource, detail: `runs ${image}, where ${first?.resource} runs ${first?.image}` }];
    return [];
  });
};

/** Whether an image has a digest, or the tag of a full version or of a commit. Tags such as `latest` or `1` move. */
export function isPinned(image: string): boolean {
  if (/@sha256:[0-9a-f]{64}$/.test(image)) return true;
  const tag = /:([^/:@]+)$/.exec(image)?.[1] ?? '';
  return /^v?\d+\.\d+\.\d+(?:[-+.][\w.-]+)?$/.test(tag) || /^(?:sha-)?[0-9a-f]{7,40}$/.test(tag);
}
