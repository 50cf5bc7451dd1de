export { bucketColumns } from './series.store.ts';
export { type Interval, refuseLongSeries, seriesOf } from './series.ts';
