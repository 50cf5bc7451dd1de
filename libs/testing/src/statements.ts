import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import pg from 'pg';

type Handler = (req: IncomingMessage, res: ServerResponse) => void;

export interface StatementRecorder {
  /** The handler, whose requests are recorded. */
  recorded(handler: Handler): Handler;
  /**
   * The SQL statements, including BEGIN and COMMIT, that were sent for the requests made by `work`. Statements of the relay,
   * jobs and consumers are not counted, because these were started outside of the requests.
   */
  statementsOf(work: () => Promise<unknown>): Promise<string[]>;
}

/** The list that collects the statements of the current request. */
const ofRequest = new AsyncLocalStorage<string[]>();
let watching = false;

export function createStatementRecorder(): StatementRecorder {
  watchStatements();
  let recording: string[] | undefined;
  return {
    recorded: (handler) => (req, res) => {
      if (recording) ofRequest.run(recording, () => handler(req, res));
      else handler(req, res);
    },
    async statementsOf(work) {
      const statements: string[] = [];
      recording = statements;
      await work().finally(() => {
        recording = undefined;
      });
      return statements;
    },
  };
}

/** Wraps the `query` of every connection, which both Prisma's adapter and plain SQL use. */
function watchStatements(): void {
  if (watching) return;
  watching = true;
  const send: unknown = pg.Client.prototype.query;
  if (typeof send !== 'function') throw new Error('pg has another way to send statements');
  Object.defineProperty(pg.Client.prototype, 'query', {
    value(this: pg.Client, ...given: unknown[]): unknown {
      const [statement] = given;
      ofRequest.getStore()?.push(typeof statement === 'string' ? statement : textOf(statement));
      return Reflect.apply(send, this, given);
    },
  });
}

function textOf(statement: unknown): string {
  const { text } = statement as { text?: unknown };
  return typeof text === 'string' ? text : 'a statement without a text';
}
