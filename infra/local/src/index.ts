export { embeddedServices, type Platform, startPlatform } from './platform.ts';
export { newSecrets } from './secrets.ts';
