/** Whole numbers from 0 to below `limit`, the same in every run (a linear congruential generator, Numerical Recipes §7.1). */
export function chance(seed: number) {
  let state = seed;
  return (limit: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}
