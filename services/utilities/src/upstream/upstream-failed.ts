/** A server did not answer, or not with what it should. `retryAfterMs`: how long it asked not to be asked again. */
export class UpstreamFailed extends Error {
  override readonly name = 'UpstreamFailed';
  readonly retryAfterMs: number | undefined;

  constructor(reason: string, retryAfterMs?: number) {
    super(reason);
    this.retryAfterMs = retryAfterMs;
  }
}
