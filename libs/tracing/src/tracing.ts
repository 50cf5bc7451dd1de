/** What a span is about; by the names of OpenTelemetry's semantic conventions, where they have one. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** Who waits for what: a request that came in, an event on its way, its effect. */
export type SpanKind = 'server' | 'producer' | 'consumer';

/** Where work stands in a trace. */
export interface TraceContext {
  /** W3C trace context, for what this work causes. */
  readonly traceparent: string;
  /** Whether its span is one that is recorded here. */
  readonly recorded?: boolean;
}

/** A piece of work that is recorded. */
export interface Span extends TraceContext {
  set(attributes: Attributes): void;
  /** With what went wrong, where something did: only its name is told. The first call counts. */
  end(failure?: unknown): void;
}

export interface Tracing {
  /** Whether anything is recorded at all. */
  readonly on: boolean;
  /** Whether a trace that begins here is recorded, by the ratio. */
  chooses(): boolean;
  /**
   * Begins a span below the one that `parent` names, if that trace is recorded; without a parent a new trace, if that is
   * chosen. Else undefined: then it has cost next to nothing.
   */
  begin(name: string, kind: SpanKind, parent: string | undefined, attributes?: Attributes): Span | undefined;
  /** Sends what is left. */
  close(): Promise<void>;
}

export const noTracing: Tracing = {
  on: false,
  chooses: () => false,
  begin: () => undefined,
  async close() {},
};
