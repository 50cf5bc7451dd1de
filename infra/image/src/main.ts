/** The image's program. `SERVICE` chooses the service or the gateway, `ROLE` the kind of process. */

// The first process of a container gets only signals that it handles, and loading the service takes a second. Until that is
// done there is nothing to finish, so a signal ends the process, with the exit code of one that SIGTERM has killed.
let starting = true;
const exitWhileStarting = () => {
  if (starting) process.exit(143);
};
process.on('SIGTERM', exitWhileStarting);
process.on('SIGINT', exitWhileStarting);

const { runChosen } = await import('./programs.ts');
await runChosen(process.env);
starting = false;

export {};
