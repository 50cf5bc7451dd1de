import { runChecks } from './check/run.ts';

/** `npm run check`: everything that can be said of the code without running it. Takes seconds. */
process.exit((await runChecks()) ? 0 : 1);
