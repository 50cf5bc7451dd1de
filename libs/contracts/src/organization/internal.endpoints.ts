import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CommaSeparated } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

/** For services whose projection has not heard of a group yet. */
export const lookUpGroups = endpoint({
  operation: 'look_up_groups',
  method: 'GET',
  path: '/internal/v2/groups',
  service: 'organization',
  summary: 'Which of these groups an account has',
  access: { credential: 'internal' },
  query: z.object({ account_id: id('account'), ids: CommaSeparated(id('group')) }),
  success: {
    status: 200,
    description: 'Those that exist',
    body: z.object({ entries: z.array(z.object({ id: id('group'), name: z.string() })) }),
  },
});
