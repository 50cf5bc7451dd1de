import { openTracing, outsideTraces, type Tracing } from '@attribution/tracing';
import type { Logger } from 'pino';
import { observeSpans } from './process-metrics.ts';

/** The settings for tracing in `servingSettings`. */
interface Settings {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
}

/** Opens the tracing of this process, if its settings name a collector. Failures to send spans affect nothing else. */
export function openProcessTracing(
  { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_SAMPLER_ARG: ratio }: Settings,
  { service, role, logger }: { readonly service: string; readonly role: string; readonly logger: Logger },
): Promise<Tracing> {
  const count = endpoint === undefined ? () => {} : observeSpans();
  let losing = false;
  return openTracing({
    endpoint,
    ratio,
    service,
    role,
    onSent(spans, error) {
      count(spans, error);
      const lost = error !== undefined;
      if (lost && !losing) outsideTraces(() => logger.warn({ err: error }, 'Traces are not taken: they are lost'));
      losing = lost;
    },
  });
}
