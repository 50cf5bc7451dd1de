import { z } from 'zod';
import { Count, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const jobStatuses = ['queued', 'running', 'succeeded', 'failed'] as const;

/** Work that goes on after its request was answered. */
export const Job = z
  .object({
    id: id('job'),
    kind: z.string().meta({ description: 'media_processing, campaign_scoring, …', example: 'media_processing' }),
    status: z.enum(jobStatuses),
    progress: z.int().min(0).max(100).meta({ description: 'Percent; 100 exactly when it succeeded', example: 40 }),
    subject_id: z
      .string()
      .meta({ description: 'The asset, or the campaign', example: 'mda_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' }),
    hold_id: id('token_hold').nullable().optional().meta({ description: 'Of a scoring: the tokens held for it' }),
    attempts: Count,
    error: z
      .object({ code: z.string().meta({ example: 'truncated' }), detail: z.string() })
      .nullable()
      .meta({ description: 'Why it failed' }),
    created_by: z.string().meta({ example: 'usr_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' }),
    created_at: Timestamp,
    started_at: Timestamp.nullable(),
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: 'Job', description: 'Kept for 30 days after its end' });
