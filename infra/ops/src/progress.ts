const intervalMs = 2_000;

/** Notes the line of a step at most every two seconds, however often there is one. */
export function notesProgress(note: (line: string) => void): (line: () => string) => void {
  let last = performance.now();
  return (line) => {
    if (performance.now() - last < intervalMs) return;
    last = performance.now();
    note(line());
  };
}
