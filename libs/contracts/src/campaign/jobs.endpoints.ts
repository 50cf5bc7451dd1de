import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { id } from '../wire/ids.ts';
import { Job } from './jobs.resources.ts';

export const getJob = endpoint({
  operation: 'get_job',
  method: 'GET',
  path: '/v2/jobs/{id}',
  service: 'campaign',
  summary: 'How far a job is',
  description: 'Seen with what it is about. Imports of the estate have an endpoint of their own.',
  access: { credential: 'any' },
  params: z.object({ id: id('job') }),
  success: { status: 200, description: 'The job', body: Job },
});
