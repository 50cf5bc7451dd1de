export { startPlatform } from './platform.ts';
export { newSecrets } from './secrets.ts';
