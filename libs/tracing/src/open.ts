import type { TracingOptions } from './options.ts';
import { noTracing, type Tracing } from './tracing.ts';

/** What records the spans of one process. What does so is loaded only where somebody takes them. */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { endpoint, ...others } = options;
  if (endpoint === undefined) return noTracing;
  const { createOtlpTracing } = await import('./otlp.ts');
  return createOtlpTracing({ ...others, endpoint });
}
