import { z } from 'zod';
import { Tag } from '../organization/tags.ts';
import { id } from '../wire/ids.ts';

const distinct = (values: readonly string[]) => new Set(values).size === values.length;
const list = <T extends z.ZodType<string>>(item: T, most: number) =>
  z.array(item).max(most, `must have at most ${most} values`).refine(distinct, 'must name each value once');

const Selection = z.object({
  group_ids: list(id('group'), 500).default([]),
  location_ids: list(id('location'), 5_000).default([]),
  tags: list(Tag, 50).default([]),
});
const nothing = { group_ids: [], location_ids: [], tags: [] };

const holdoutPercent = z
  .int()
  .min(0)
  .max(100)
  .meta({ description: 'Share of the hours that are kept free, as a control', example: 10 });

export const NewTarget = z
  .object({
    include: Selection.default(nothing),
    exclude: Selection.default(nothing),
    holdout_percent: holdoutPercent.default(0),
  })
  .meta({
    id: 'NewCampaignTarget',
    example: { include: { tags: ['flagship'] }, exclude: { tags: ['staff-room'] }, holdout_percent: 10 },
  });

const selection = z.object({
  group_ids: z.array(id('group')),
  location_ids: z.array(id('location')),
  tags: z.array(z.string().meta({ example: 'flagship' })),
});

export const Target = z.object({ include: selection, exclude: selection, holdout_percent: holdoutPercent }).meta({
  id: 'CampaignTarget',
  description:
    'Where it may run. Groups and locations of `include` add to each other, and its tags narrow them. `exclude` has the last word.',
});
