import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

/** Runs `npm run generate` on an empty folder, in a process of its own, because Jest would load the whole platform slowly. */
function generate(...args: string[]): { readonly status: number | null; readonly output: string } {
  const program = join(import.meta.dirname, '../src/main.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--root', copy, ...args], {
    encoding: 'utf8',
  });
  return { status, output: stdout + stderr };
}

let copy: string;
let files: readonly string[];
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'generated-'));
  const written = generate();
  expect(written).toMatchObject({ status: 0 });
  files = written.output.trim().split('\n').slice(0, -1);
});
afterAll(() => rm(copy, { recursive: true }));

const change = async (file: string, edit: (lines: string[]) => string[]) => {
  const text = await readFile(join(copy, file), 'utf8');
  await writeFile(join(copy, file), edit(text.split('\n')).join('\n'));
};

test('the Compose file, manifests, Prometheus targets, an alert with its test, and pages are generated', () => {
  expect(files).toEqual(
    expect.arrayContaining([
      'docker-compose.yml',
      'docs/configuration.md',
      'docs/events.md',
      'infra/observability/prometheus/missing-processes.test.yml',
      'infra/observability/prometheus/prometheus.yml',
      'infra/observability/prometheus/rules/missing-processes.yml',
      'k8s/base/gateway/upstreams.env',
      'k8s/base/ingress/services.yaml',
      'k8s/base/ingress/upstreams.env',
      'k8s/base/services/account/kustomization.yaml',
      'k8s/base/services/account/network.yaml',
      'k8s/base/services/account/process.yaml',
      'k8s/base/services/kustomization.yaml',
      'k8s/services.md',
    ]),
  );
});

test('the first line of every file names its sources and how to regenerate it', async () => {
  for (const file of files) {
    const [first] = (await readFile(join(copy, file), 'utf8')).split('\n');
    expect([file, first]).toEqual([
      file,
      expect.stringMatching(/^(#|<!--) Generated from services\/registry\.ts.*: .*`npm run generate`/),
    ]);
  }
});

test('the check passes on generated files, and shows a change by hand in each of them; generating again removes it', async () => {
  expect(generate('--check')).toEqual({ status: 0, output: '' });

  for (const file of files) await change(file, ([first = '', ...others]) => [first, 'a change by hand', ...others]);
  const { status, output } = generate('--check');
  expect(status).toBe(1);
  for (const file of files) expect(output).toContain(`${file}: differs from line 2 on\n    - a change by hand\n`);

  expect(generate().output).toContain(`${files.length} files, ${files.length} changed`);
  expect(generate('--check')).toEqual({ status: 0, output: '' });
});
