import { serve } from '../src/serve.ts';

export type FragileMethods = {
  double(number: number): number;
  fail(message: string): never;
  die(): never;
  hoard(): never;
};

serve({
  double: (number) => 2 * number,
  fail(message) {
    throw new RangeError(message);
  },
  die: () => process.exit(1),
  hoard() {
    for (const hoard: number[][] = []; ; ) hoard.push(Array.from({ length: 100_000 }, (_, at) => at / 3));
  },
} satisfies FragileMethods);
