/** Reads a variable that the case must set for its programs. */
export function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

/** Exits on SIGTERM without waiting for connections. */
export function endOnSignal(): void {
  process.on('SIGTERM', () => process.exit(0));
}
