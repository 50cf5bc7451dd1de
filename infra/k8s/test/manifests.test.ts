import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Complaint, check } from '../src/check.ts';
import { processesOf } from '../src/environment.ts';
import { loadPrograms } from '../src/load-programs.ts';
import { type Manifest, ofKind, workloadsOf } from '../src/manifests.ts';
import { provideValidator, type Verdict, validate } from '../src/validator.ts';
import { type Broken, broken, withoutTraces } from './broken.ts';

const root = resolve(import.meta.dirname, '../../..');
const programs = await loadPrograms();
/** Long, because Go may have to build the validator first. */
const buildTimeoutMs = 30 * 60_000;
const validator = await provideValidator(join(root, '.cache'), () => {});

/** Skipped without Go. CI has it: `npm run check` fails there without. */
const withValidator = validator === undefined ? describe.skip : describe;

withValidator('the manifests', () => {
  const overlays = ['stage', 'production'].map((name) => join(root, 'k8s/overlays', name));
  const judged = new Map<string, Verdict>();
  let folder = '';

  beforeAll(async () => {
    // Kustomize compares real paths.
    folder = await realpath(await mkdtemp(join(tmpdir(), 'k8s-broken-')));
    const folders = await Promise.all(broken.map((one, index) => writeKustomization(join(folder, String(index)), one)));
    const untraced = await writeKustomization(join(folder, 'untraced'), withoutTraces);
    const verdicts = await validate(validator ?? '', [...overlays, ...folders, untraced]);
    for (const verdict of verdicts) judged.set(verdict.directory, verdict);
  }, buildTimeoutMs);

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const complaintsOf = (directory: string): Complaint[] => {
    const verdict = judged.get(directory);
    if (!verdict) throw new Error(`${directory} was not judged`);
    return [...verdict.complaints, ...check({ manifests: verdict.manifests, programs })];
  };

  test.each(overlays)('%s: nothing is wrong', (overlay) => {
    expect(judged.get(overlay)?.manifests.length).toBeGreaterThan(60);
    expect(complaintsOf(overlay)).toEqual([]);
  });

  test('an overlay may leave traces out: nothing is wrong', () => {
    expect(complaintsOf(join(folder, 'untraced'))).toEqual([]);
  });

  test('every secret that the manifests refer to is documented', async () => {
    const pages = ['k8s/README.md', 'k8s/services.md'].map((page) => readFile(join(root, page), 'utf8'));
    const documented = (await Promise.all(pages)).join('\n');
    const referred = overlays.flatMap((overlay) => secretsOf(judged.get(overlay)?.manifests ?? []));
    expect(referred.length).toBeGreaterThan(10);
    expect([...new Set(referred)].filter((name) => !documented.includes(`\`${name}\``))).toEqual([]);
  });

  test.each(broken.map((one, index) => ({ ...one, index })))('$change is found', ({ index, found }) => {
    expect(complaintsOf(join(folder, String(index)))).toContainEqual({
      rule: found.rule,
      resource: expect.stringContaining(found.resource),
      detail: expect.stringMatching(found.detail),
    });
  });
});

/** The names of all secrets and of their keys. */
function secretsOf(manifests: readonly Manifest[]): string[] {
  const referred = processesOf(manifests).flatMap(({ environment }) =>
    [...environment.values()].flatMap((source) => ('secret' in source ? [source.secret, source.key] : [])),
  );
  const mounted = workloadsOf(manifests).flatMap(({ spec }) =>
    (spec.template.spec.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []),
  );
  const certificates = ofKind(manifests, 'Ingress').flatMap(
    ({ spec }) => spec.tls?.map((tls) => tls.secretName ?? '') ?? [],
  );
  return [...referred, ...mounted, ...certificates];
}

async function writeKustomization(
  directory: string,
  { of, patch, merge, more }: Omit<Broken, 'change' | 'found'>,
): Promise<string> {
  await mkdir(directory);
  const kustomization = {
    resources: [relative(directory, join(root, 'k8s/overlays/stage'))],
    ...(of && { patches: [{ target: of, patch: JSON.stringify(patch ?? mergedInto(merge)) }] }),
    ...more,
  };
  // JSON is YAML.
  await writeFile(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization));
  return directory;
}

const mergedInto = (pod: object | undefined) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'any' },
  spec: { template: { spec: pod } },
});
