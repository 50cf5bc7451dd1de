/** W3C trace context, version 00: `00-<trace>-<span>-<flags>`, in lower case. */
const shape = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

export const isTraceparent = (text: string): boolean => shape.test(text);

export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);

export const spanIdOf = (traceparent: string): string => traceparent.slice(36, 52);

/** Whether the sender records the trace. */
export const isSampled = (traceparent: string): boolean => (Number.parseInt(traceparent.slice(53), 16) & 1) === 1;

export const withSampled = (traceparent: string, sampled: boolean): string =>
  traceparent.slice(0, 53) + (sampled ? '01' : '00');
