export { listPlaysEndpoint } from './list-plays.ts';
