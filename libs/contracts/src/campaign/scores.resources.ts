import { z } from 'zod';
import { Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

/** A figure from 0 to 100 with one decimal. */
const Figure = z.number().min(0).max(100);

const ScoreComponent = z.object({
  key: z.string().meta({ example: 'contrast' }),
  weight: z.number().min(0).max(1).meta({ description: 'All weights add up to 1', example: 0.15 }),
  value: Figure.meta({ example: 62.5 }),
  detail: z.string().meta({ example: 'Contrast of the picture' }),
});

export const Score = z
  .object({
    id: id('score'),
    campaign_id: id('campaign'),
    campaign_ad_id: id('campaign_ad'),
    ad_id: id('ad'),
    job_id: id('job'),
    model: z.string().meta({ example: 'heuristic-1' }),
    heuristic: z.boolean().meta({ description: 'Whether it follows rules of thumb that nothing was measured for' }),
    signature: z.string().meta({ description: 'Equal for what was scored alike; opaque', example: '9f86d081…' }),
    score: Figure.meta({ description: 'The sum of weight times value, to one decimal, half up', example: 71.3 }),
    components: z.array(ScoreComponent),
    created_at: Timestamp,
  })
  .meta({ id: 'Score', description: 'How well an ad is likely to work on the screens that it reaches' });

export const ScoringStarted = z
  .object({
    job_id: id('job'),
    hold_id: id('token_hold').nullable().meta({ description: 'The tokens that are held for it; null: it costs none' }),
  })
  .meta({ id: 'ScoringStarted' });
