export { embeddedServices, startPlatform } from './platform.ts';
export { newSecrets } from './secrets.ts';
