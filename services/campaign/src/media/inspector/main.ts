import type { Probed, Rendered, Task } from './tasks.ts';

/** A process starts for each task, and loads what that task needs alone: libraries cost more than the work on most files. */
async function answer(task: Task): Promise<Probed | Rendered> {
  if (task.kind === 'render') return (await import('./render-file.ts')).render(task);
  return (await import('./probe-file.ts')).probe(task);
}

process.once('message', (task: Task) => {
  answer(task).then(
    (result) => process.send?.({ answer: result }, () => process.exit(0)),
    (error: unknown) => process.send?.({ error: String(error) }, () => process.exit(1)),
  );
});
process.once('disconnect', () => process.exit(1)); // Nobody waits for an answer any more.
