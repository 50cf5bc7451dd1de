import type { Attributes, Span, Tracing } from '@attribution/tracing';
import type { Message } from './transport.ts';

const whatFor = { producer: 'publish', consumer: 'consume' } as const;

export interface MessageSpans {
  /** As those behind see them: what they cause is below these spans. */
  readonly messages: readonly Message[];
  /** Ends all spans; with what stood in a message's way, where it was not done. */
  end(failureOf?: (message: Message) => unknown): void;
}

/** Begins a span for each message whose trace is recorded: it is on its way, or has its effect, as part of that trace. */
export function beginSpans(
  tracing: Tracing,
  messages: readonly Message[],
  kind: keyof typeof whatFor,
  more?: Attributes,
): MessageSpans {
  if (!tracing.on) return { messages, end() {} };
  const spans = new Map<string, Span>();
  const below = messages.map((message) => {
    const { topic, envelope } = message;
    if (envelope.traceparent === null) return message;
    const span = tracing.begin(`${whatFor[kind]} ${envelope.type}`, kind, envelope.traceparent, {
      'messaging.destination.name': topic,
      'messaging.message.id': envelope.event_id,
      ...more,
    });
    if (!span) return message;
    spans.set(envelope.event_id, span);
    return { topic, envelope: { ...envelope, traceparent: span.traceparent } };
  });
  return {
    messages: spans.size > 0 ? below : messages,
    end(failureOf = () => undefined) {
      if (spans.size === 0) return;
      for (const message of messages) spans.get(message.envelope.event_id)?.end(failureOf(message));
    },
  };
}
