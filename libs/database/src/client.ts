import pg from 'pg';

type Callback = (error: unknown, result?: unknown) => void;

/**
 * The class of clients that wait so many milliseconds for a response, or for as long as it takes. One that got none in time
 * closes its connection: the statement may still run, later ones would queue behind it, and a ROLLBACK that times out as well
 * would never be sent, so that the next transaction on this connection would commit half of this one.
 *
 * Every query gets its callback and its timer here. Those that pg makes (`query_timeout`, and the promise of a query without a
 * callback) keep the values and the rows of each query in V8's old generation until the whole heap is collected (ADR 48).
 */
export const clientWithin = (limitMs?: number): typeof pg.Client =>
  class extends pg.Client {
    override query(...given: unknown[]): never {
      const last = given.at(-1);
      if (typeof last !== 'function') return this.#promised(given) as never;
      this.#send(given.slice(0, -1), last as Callback);
      return undefined as never;
    }

    async #promised(given: readonly unknown[]): Promise<unknown> {
      try {
        return await new Promise((resolve, reject) => {
          this.#send(given, (error, result) => (error ? reject(error as Error) : resolve(result)));
        });
      } catch (error) {
        Error.captureStackTrace(error as Error); // One that leads to the caller instead of the socket.
        throw error;
      }
    }

    #send(given: readonly unknown[], done: Callback): void {
      const settle = limitMs === undefined ? done : within(limitMs, done, () => void this.end());
      super.query(...(given as [never]), settle as never);
    }
  };

/** Calls `done` once: with what comes within so many milliseconds, or with an error. Then it calls `onSilence`, too. */
function within(ms: number, done: Callback, onSilence: () => void): Callback {
  let over = false;
  const timer = setTimeout(() => {
    settle(new Error('Query read timeout'));
    onSilence();
  }, ms);
  function settle(error: unknown, result?: unknown): void {
    if (over) return;
    over = true;
    clearTimeout(timer);
    done(error, result);
  }
  return settle;
}
