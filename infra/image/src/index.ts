export { healthPath } from './health-path.ts';
export { makeDatabases } from './make-databases.ts';
export { programNames } from './programs.ts';
export { commands, loadFaultsIn } from './settings.ts';
