import { readFile } from 'node:fs/promises';
import { createRequire, stripTypeScriptTypes } from 'node:module';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createContext, type Module, SourceTextModule } from 'node:vm';

/** The browser APIs that the client uses. */
const web = { AbortSignal, Headers, Response, TextDecoder, URL, URLSearchParams };

/** Loads a module with its imports in a context without Node: no modules of Node, no `process`, no `Buffer`. */
export async function loadInBrowser(file: string): Promise<Record<string, unknown>> {
  const context = createContext({ ...web });
  const modules = new Map<string, Promise<SourceTextModule>>();

  const load = (path: string): Promise<SourceTextModule> => {
    const loading = modules.get(path) ?? read(path);
    modules.set(path, loading);
    return loading;
  };
  const read = async (path: string) => {
    const text = await readFile(path, 'utf8');
    const script = path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
    return new SourceTextModule(script, { context, identifier: path });
  };
  const link = (specifier: string, { identifier }: Module) => load(pathOf(specifier, identifier));

  const main = await load(file);
  await main.link(link);
  await main.evaluate();
  return main.namespace as Record<string, unknown>;
}

/** Resolves modules like a bundler. Node's own modules are not found. */
function pathOf(specifier: string, importer: string): string {
  if (specifier.startsWith('node:')) throw new Error(`${importer} imports ${specifier}`);
  if (specifier.startsWith('.')) return resolve(dirname(importer), specifier);
  return createRequire(importer)
    .resolve(specifier)
    .replace(/\.cjs$/, '.js');
}

export const source = (path: string) => fileURLToPath(new URL(`../src/${path}`, import.meta.url));
