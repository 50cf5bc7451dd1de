export { unusedRanges } from './notice.store.ts';
export { createNotices, type Notices, rangeDays } from './notices.ts';
