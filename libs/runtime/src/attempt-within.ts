/** What the work resolves with; undefined when it fails, or takes longer: of what is told only if it is at hand. */
export async function attemptWithin<T>(ms: number, work: () => Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  const done = Promise.try(work).catch(() => undefined);
  return Promise.race([done, late.promise]).finally(() => clearTimeout(timer));
}
