export { startBalancer } from './balancer.ts';
export { readCompose } from './compose-file.ts';
export { type Fleet, type FleetOptions, type FleetProcess, startFleet } from './fleet.ts';
export { type MailCatcher, startMailCatcher } from './mail-catcher.ts';
export { completeSecrets, deviceRootIn } from './secrets.ts';
export { startServers } from './servers.ts';
