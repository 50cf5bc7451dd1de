export interface TracingOptions {
  /** Where an OTLP receiver is, by HTTP: without `/v1/traces`. Without one nothing is recorded. */
  readonly endpoint: string | undefined;
  /** Of the traces that begin here, how many are recorded: 0 to 1. */
  readonly ratio: number;
  readonly service: string;
  readonly role: string;
  /** Told what became of spans: of each batch that was sent, and of each span that found too many before it. */
  readonly onSent?: (spans: number, error: Error | undefined) => void;
}
