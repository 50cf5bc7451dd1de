import { z } from 'zod';
import { Text } from '../wire/formats.ts';

/** The purpose of the campaign. Additional fields are stored unchanged. */
const briefFields = {
  version: z.int().min(1).max(1_000_000),
  product: Text(500).nullable().meta({ example: 'Trail shoe X2' }),
  objective: Text(2000).nullable().meta({ example: 'Bring runners into the shops' }),
  outcome: Text(2000).nullable().meta({ example: 'A tenth more visits' }),
};
export const Brief = z
  .looseObject(briefFields)
  .meta({ id: 'Brief', description: 'Versioned; holds further free-text fields' });

export const BriefInput = z.looseObject({
  version: briefFields.version.default(1),
  product: briefFields.product.default(null),
  objective: briefFields.objective.default(null),
  outcome: briefFields.outcome.default(null),
});
export const BriefChange = z.looseObject(briefFields).partial();
