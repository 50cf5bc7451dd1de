import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** A program that loads the module in its first argument, and ends. */
const watch = `
import { registerHooks } from 'node:module';
const urls = [];
registerHooks({
  load(url, context, nextLoad) {
    urls.push(url);
    return nextLoad(url, context);
  },
});
await import(process.argv[1]);
process.stdout.write(JSON.stringify(urls), () => process.exit());
`;

/** The URLs of all modules, including packages, that a program has loaded after its main module has run in a new process. */
export async function modulesLoadedBy(
  program: URL,
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', watch, program.href],
    { env: { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...environment }, maxBuffer: 16 * 1024 * 1024 },
  );
  return JSON.parse(stdout) as string[];
}
