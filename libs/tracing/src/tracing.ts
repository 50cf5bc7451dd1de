/** A span's attributes, named by OpenTelemetry's semantic conventions where these have a name. */
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** An incoming request, the publication of an event, or its handling. */
export type SpanKind = 'server' | 'producer' | 'consumer';

/** The place of some work in a trace. */
export interface TraceContext {
  /** The W3C trace context to pass on to requests and events of this work. */
  readonly traceparent: string;
  /** Whether this process records the span that `traceparent` names. */
  readonly recorded?: boolean;
}

/** Recorded work. */
export interface Span extends TraceContext {
  set(attributes: Attributes): void;
  /** Ends the span, with the error if there was one, of which only the name is recorded. Later calls are ignored. */
  end(failure?: unknown): void;
}

export interface Tracing {
  /** Whether anything is recorded at all. */
  readonly on: boolean;
  /** Decides by the ratio whether a trace that begins here is recorded. */
  chooses(): boolean;
  /**
   * Begins a span below the one that `parent` names, if that trace is recorded. Without a parent it begins a new trace, if
   * `chooses` decides so. Else it returns undefined, at almost no cost.
   */
  begin(name: string, kind: SpanKind, parent: string | undefined, attributes?: Attributes): Span | undefined;
  /** Sends the remaining spans. */
  close(): Promise<void>;
}

export const noTracing: Tracing = {
  on: false,
  chooses: () => false,
  begin: () => undefined,
  async close() {},
};
