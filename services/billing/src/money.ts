import { runMoneyCommand } from './commands.ts';

process.exitCode = await runMoneyCommand(process.argv.slice(2), process.env);
