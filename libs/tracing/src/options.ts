export interface TracingOptions {
  /** The URL of an OTLP receiver over HTTP, without `/v1/traces`. If it is undefined, nothing is recorded. */
  readonly endpoint: string | undefined;
  /** The share of the traces beginning here that are recorded, from 0 to 1. */
  readonly ratio: number;
  readonly service: string;
  readonly role: string;
  /** Called for each batch that was sent or failed, and for each span that was dropped because the queue was full. */
  readonly onSent?: (spans: number, error: Error | undefined) => void;
}
