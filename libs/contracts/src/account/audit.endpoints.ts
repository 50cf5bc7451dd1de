import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CalendarDate } from '../wire/formats.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { AuditRecord } from './people.resources.ts';

export const listAuditLog = endpoint({
  operation: 'list_audit_log',
  method: 'GET',
  path: '/v2/audit-log',
  service: 'account',
  summary: 'What was done and refused in this account',
  description: 'Newest first.',
  access: { credential: 'person', roles: ['owner', 'admin'] },
  query: z.object({
    ...pageQuery,
    action: z.string().min(1).max(100).optional().meta({ example: 'api_key.created' }),
    actor: z.string().min(1).max(100).optional().meta({ description: 'usr_ or key_ id' }),
    from: CalendarDate.optional().meta({ description: 'First day, UTC' }),
    to: CalendarDate.optional().meta({ description: 'Last day, UTC' }),
  }),
  success: { status: 200, description: 'A page of records', body: Page(AuditRecord) },
});
