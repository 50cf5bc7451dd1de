import { runChecks } from './check/run.ts';

/** `npm run check`: all checks that do not run the code. */
process.exit((await runChecks()) ? 0 : 1);
