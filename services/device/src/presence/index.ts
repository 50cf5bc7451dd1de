export { openPresence } from './presence.ts';
export { type Admitted, admitDevice, type Recognition, recognize } from './recognize.ts';
export { tellOffline } from './tell-offline.ts';
