import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { among, groupAdmins, readers } from './common.ts';
import { EstateImport, estateFileExamples, estateFileLimits, estateMedia } from './estate-files.ts';

const service = 'organization';
const importId = z.object({ id: id('job') });

export const importEstate = endpoint({
  operation: 'import_estate',
  method: 'POST',
  path: '/v2/estate/imports',
  service,
  summary: 'Set up many things at once',
  description: `Takes a file of up to ${estateFileLimits.rows} rows, each a group, location, zone, screen, installation or camera, and answers a job.

A row is known by its kind and \`external_id\`: what is there is changed, anything else is created. \`parent\` is the external id of what it is in: a group for a location, a location for a zone or an installation, a zone for a screen or a camera. What has no external id goes by our own id, in both columns. A parent's row comes before its children's, unless it is there already. A column that the file does not have leaves its field as it is; an empty cell (null in NDJSON) unsets it, but for \`timezone\`, which then stays. A new location without a time zone gets that of its coordinates. \`tags\` and \`accepted_formats\` are comma-joined, \`opening_hours\` is JSON, and so is \`outputs\`: \`[{"output": "HDMI-1", "screen": "CH-0142-W1"}]\`.

A location and what is in it are set up whole or not at all: one row at fault refuses all rows of that location, and no other's. The report tells which, and why. Nothing is deleted. A location has at most 10,000 rows in a file. A dry run tries some locations at a time: what one of them lets go of is not free for others. By an owner or admin for any group; by an admin of groups for these. A caller sends one file at a time, and an account two; further ones wait, and those that wait too long are 503.`,
  access: groupAdmins,
  query: z.object({
    dry_run: z
      .enum(['true', 'false'])
      .transform((text) => text === 'true')
      .default(false)
      .meta({ type: 'boolean', description: 'Tries everything and keeps nothing', default: false }),
  }),
  upload: { media: estateMedia, max_bytes: estateFileLimits.bytes, example: estateFileExamples },
  idempotent: true,
  success: { status: 202, description: 'The job; 409 while five of the account are not done', body: EstateImport },
});

export const listEstateImports = endpoint({
  operation: 'list_estate_imports',
  method: 'GET',
  path: '/v2/estate/imports',
  service,
  summary: 'Imports',
  description: 'To owners and admins all of the account, to others their own.',
  access: groupAdmins,
  query: z.object(pageQuery),
  success: { status: 200, description: 'A page of imports, newest first', body: Page(EstateImport) },
});

export const getEstateImport = endpoint({
  operation: 'get_estate_import',
  method: 'GET',
  path: '/v2/estate/imports/{id}',
  service,
  summary: 'How far an import is',
  access: groupAdmins,
  params: importId,
  success: { status: 200, description: 'The import', body: EstateImport },
});

export const getEstateImportReport = endpoint({
  operation: 'get_estate_import_report',
  method: 'GET',
  path: '/v2/estate/imports/{id}/report',
  service,
  summary: 'What an import refused, and why',
  description: 'A line for each row, numbered as in the file (the header of a CSV is row 1). Kept for 30 days.',
  access: groupAdmins,
  params: importId,
  success: { status: 200, description: 'row, kind, external_id, reason', download: { media: ['text/csv'] } },
});

export const exportEstate = endpoint({
  operation: 'export_estate',
  method: 'GET',
  path: '/v2/estate/export',
  service,
  summary: 'The estate as a file',
  description:
    'As an import takes it; imported again it changes nothing (in parts, where it has more rows than an import takes). All of it is of one moment. A caller has one export at a time, and an account two; further ones wait, and those that wait too long are 503.',
  access: readers,
  query: z.object({
    format: z.enum(['csv', 'ndjson']).default('csv'),
    group_ids: among('group', 'what is in these groups'),
  }),
  turns: 'export',
  success: { status: 200, description: 'The file', download: { media: estateMedia } },
});
