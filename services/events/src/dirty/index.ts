export { hoursJson, markDirty, markingHours } from './dirty.store.ts';
export { type DirtyHour, hoursOf } from './dirty-hours.ts';
