/** The program of the image: `SERVICE` says which one it is here, `ROLE` which part of that. */

// The first process of a container hears no signal that it has not asked for, and what it loads takes a second. What
// was not begun has nothing to finish, but it has not been done either: this is no success.
let starting = true;
const leave = () => {
  if (starting) process.exit(143);
};
process.on('SIGTERM', leave);
process.on('SIGINT', leave);

const { runChosen } = await import('./programs.ts');
await runChosen(process.env);
starting = false;

export {};
