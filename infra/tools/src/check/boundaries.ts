import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cruise, type ICruiseOptions, type ICruiseResult } from 'dependency-cruiser';
import readRules from 'dependency-cruiser/config-utl/extract-depcruise-options';
import { root } from '../workspace.ts';

/**
 * Checks the rules of .dependency-cruiser.mjs: first on the violations planted in fixtures/boundaries, exactly which must
 * be found, then on the workspace.
 */
const fixture = join(root, 'infra/tools/fixtures/boundaries');
const rules = await readRules(join(root, '.dependency-cruiser.mjs'));
/** A rule of our own, which dependency-cruiser cannot express. */
const inlineType = 'inline-import-type';
/** `import('…')` as a type, and not a dynamic import of a module. */
const inlineImport = /(?<!await |: \(\) => )\bimport\(['"](?:[.]|@attribution\/)[^'"]*/g;
const comments = new Map([[inlineType, 'Write `import type` at the top instead.']]);
for (const { name = '', comment = '' } of [...(rules.ruleSet?.forbidden ?? []), ...(rules.ruleSet?.required ?? [])]) {
  comments.set(name, comment);
}

interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly what: string;
}

const complaints = [...proveRules(await findViolations(fixture)), ...(await findViolations(root)).map(describe)];
for (const complaint of complaints) console.log(complaint);
process.exitCode = complaints.length === 0 ? 0 : 1;

async function findViolations(directory: string): Promise<Violation[]> {
  const options: ICruiseOptions = { ...rules, baseDir: directory };
  const { output } = await cruise(['gateway', 'services', 'libs', 'infra'], options);
  const { modules, summary } = output as ICruiseResult;
  const found = summary.violations.map(({ rule, from, to, cycle }) => ({
    rule: rule.name,
    from,
    what: cycle ? cycle.map(({ name }) => name).join(' → ') : to,
  }));
  const sources = modules.filter(({ source, followable }) => followable !== false && source.endsWith('.ts'));
  return [...found, ...sources.flatMap(({ source }) => inlineTypes(directory, source))];
}

/** dependency-cruiser misses `import('…').Type` in some positions, so it is not allowed. */
function inlineTypes(directory: string, source: string): Violation[] {
  const imports = readFileSync(join(directory, source), 'utf8').matchAll(inlineImport);
  return [...imports].map(([what]) => ({ rule: inlineType, from: source, what }));
}

/** Lines of the fixture that end in `// breaks <rule>` must break that rule, no others may, and every rule must be broken. */
function proveRules(found: readonly Violation[]): string[] {
  const planted = new Set(globSync('**/*.ts', { cwd: fixture }).flatMap(plantedIn));
  const fired = new Set(found.map(({ rule, from }) => `${rule} in ${from}`));
  const broken = new Set(found.map(({ rule }) => rule));
  return [
    ...[...planted.difference(fired)].map((violation) => `The fixture: ${violation} was planted and not found`),
    ...[...fired.difference(planted)].map((violation) => `The fixture: ${violation} was found and not planted`),
    ...[...comments.keys()].filter((name) => !broken.has(name)).map((name) => `The fixture does not break ${name}`),
  ];
}

function plantedIn(file: string): string[] {
  const notes = readFileSync(join(fixture, file), 'utf8').matchAll(/\/\/ breaks (.+)$/gm);
  return [...notes].flatMap(([, names = '']) => names.split(', ').map((rule) => `${rule} in ${file}`));
}

function describe({ rule, from, what }: Violation): string {
  return `${rule}: ${from} → ${what}\n  ${comments.get(rule)}`;
}
