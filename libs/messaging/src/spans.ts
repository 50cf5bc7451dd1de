import type { Envelope } from '@attribution/contracts';
import { type Attributes, type Span, type Tracing, traceFields } from '@attribution/tracing';
import type { Message } from './transport.ts';

const verbs = { producer: 'publish', consumer: 'consume' } as const;

export interface MessageSpans {
  /** With these spans as their traceparents, so that what they cause is recorded below them. */
  readonly messages: readonly Message[];
  /** Ends all spans; `failureOf` returns the error of a message that failed. */
  end(failureOf?: (message: Message) => unknown): void;
}

/** Begins a span for each message whose trace is recorded: its publication, or its effect, is a part of that trace. */
export function beginSpans(
  tracing: Tracing,
  messages: readonly Message[],
  kind: keyof typeof verbs,
  more?: Attributes,
): MessageSpans {
  if (!tracing.on) return { messages, end() {} };
  const spans = new Map<string, Span>();
  const below = messages.map((message) => {
    const { topic, envelope } = message;
    if (envelope.traceparent === null) return message;
    const span = tracing.begin(`${verbs[kind]} ${envelope.type}`, kind, envelope.traceparent, {
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

/** For logs about an event. */
export const traceFieldsOf = ({ traceparent }: Envelope) => (traceparent === null ? {} : traceFields({ traceparent }));
