/** `young-generation.process.ts`, with `--expose-gc`: how many of 100 checked values a collection of new objects leaves. */
import { setTimeout as sleep } from 'node:timers/promises';
import { refinedBy } from '@attribution/contracts';
import { z } from 'zod';
import { judge } from '../src/index.ts';

const size = z.object({ most: z.int() });
const refined = z.object({ size }).check(
  refinedBy(({ size }, context) => {
    if (size.most > 5) context.addIssue({ code: 'custom', path: ['size'], message: 'is large', input: size });
  }),
);
const cases: Record<string, { schema: z.ZodType; newSize: () => object }> = {
  valid: { schema: refined, newSize: () => ({ most: 1 }) },
  refused: { schema: refined, newSize: () => ({ most: 9 }) },
  'of another type': { schema: z.object({ size: z.string() }), newSize: () => ({ most: 1 }) },
};

/** References to what was read, or to what was refused. */
async function check({ schema, newSize }: (typeof cases)[string]): Promise<WeakRef<object>[]> {
  const sizes = Array.from({ length: 100 }, () => {
    const size = newSize();
    const judged = judge(schema, { size });
    return new WeakRef('item' in judged ? (judged.item as object) : size);
  });
  await sleep(10); // A WeakRef keeps its object until the end of the turn in which it was made.
  return sizes;
}

const left: Record<string, number> = {};
for (const [name, each] of Object.entries(cases)) {
  await check(each); // Its functions and maps are new objects that stay.
  const sizes = await check(each);
  globalThis.gc?.({ type: 'minor' });
  left[name] = sizes.filter((size) => size.deref()).length;
}
process.stdout.write(JSON.stringify(left));
