import { z } from 'zod';
import { Count, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

/** The file of an estate, for imports and exports. */

export const estateMedia = ['text/csv', 'application/x-ndjson'] as const;
export type EstateMedia = (typeof estateMedia)[number];

/** The limits of a file. */
export const estateFileLimits = { rows: 100_000, bytes: 128 * 1024 * 1024 } as const;

/** The columns of a CSV file, and the members of each line of NDJSON. */
export const estateColumns = [
  'kind',
  'external_id',
  'parent',
  'name',
  'description',
  'timezone',
  'address',
  'latitude',
  'longitude',
  'venue_type',
  'opening_hours',
  'status',
  'zone_kind',
  'tags',
  'width_px',
  'height_px',
  'accepted_formats',
  'audio',
  'device_id',
  'outputs',
] as const;
export type EstateColumn = (typeof estateColumns)[number];

export const estateFileExamples = {
  'text/csv': [
    'kind,external_id,parent,name,timezone,zone_kind,tags,width_px,height_px',
    'group,CH,,Switzerland,,,,,',
    'location,CH-0142,CH,Bahnhofstrasse,Europe/Zurich,,,,',
    'zone,CH-0142-W,CH-0142,Shop window,,window,,,',
    'screen,CH-0142-W1,CH-0142-W,Window left,,,"eye-level,window",1920,1080',
    '',
  ].join('\n'),
  'application/x-ndjson': [
    { kind: 'group', external_id: 'CH', name: 'Switzerland' },
    { kind: 'location', external_id: 'CH-0142', parent: 'CH', name: 'Bahnhofstrasse', timezone: 'Europe/Zurich' },
  ]
    .map((row) => `${JSON.stringify(row)}\n`)
    .join(''),
} as const;

export const EstateImport = z
  .object({
    id: id('job'),
    status: z.enum(['queued', 'running', 'succeeded', 'failed']).meta({
      description:
        '`succeeded`: it came to its end; `rows` tells what was refused. `failed`: it could not, `error` says why',
    }),
    dry_run: z.boolean().meta({ description: 'Everything is tried, and nothing kept' }),
    media: z.enum(estateMedia),
    progress: z.number().min(0).max(100).meta({ description: 'Percent of the rows', example: 42.5 }),
    rows: z
      .object({
        total: Count,
        created: Count,
        updated: Count,
        unchanged: Count,
        refused: Count.meta({ description: 'Those at fault, and with them all rows of the same location' }),
      })
      .meta({ description: 'In a dry run: what would be' }),
    error: z.string().nullable(),
    created_by: id('user'),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'EstateImport' });

/** The columns of an import's report, which has a line for each refused row. */
export const reportColumns = ['row', 'kind', 'external_id', 'reason'] as const;
