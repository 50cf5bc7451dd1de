export { endOfDay, type LocalHour, type LocalTime, localTimeOf, startOfDay } from './local-time.ts';
export { countPeriods, nextPeriod, type Period, periodOf, periodsBetween, periodsFrom } from './periods.ts';
