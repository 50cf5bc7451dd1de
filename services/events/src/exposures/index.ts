export { exposuresOf } from './exposures.ts';
export { playHoursOf } from './play-hours.ts';
