export { getJobEndpoint, type SeesSubject } from './get-job.ts';
export { failJob, succeedJob } from './job.store.ts';
export { createJobQueue, type JobQueue, type JobTry, type JobWork } from './queue.ts';
