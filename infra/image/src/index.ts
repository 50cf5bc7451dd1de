export { healthPath } from './health-path.ts';
export { makeDatabases } from './make-databases.ts';
export { choice, programNames } from './programs.ts';
export { commands, loadFaultsIn, nodeSettings } from './settings.ts';
