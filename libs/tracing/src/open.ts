import type { TracingOptions } from './options.ts';
import { noTracing, type Tracing } from './tracing.ts';

/** Opens the tracing of one process. OpenTelemetry is loaded only if there is an endpoint. */
export async function openTracing(options: TracingOptions): Promise<Tracing> {
  const { endpoint, ...others } = options;
  if (endpoint === undefined) return noTracing;
  const { createOtlpTracing } = await import('./otlp.ts');
  return createOtlpTracing({ ...others, endpoint });
}
