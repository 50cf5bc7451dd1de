/** What a case gives the programs that it starts. */
export function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not given`);
  return value;
}

/** Answers 200 to all that is asked while `npm run bench` is under way; ends on SIGTERM. */
export function endOnSignal(): void {
  process.on('SIGTERM', () => process.exit(0));
}
