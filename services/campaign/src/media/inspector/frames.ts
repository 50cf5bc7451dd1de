/** Whether some frame lasts more than 1.5 times as long as another. */
export function varies(lasts: readonly number[]): boolean {
  const shortest = lasts.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return lasts.some((last) => last > shortest * 1.5);
}
