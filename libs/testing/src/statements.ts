import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
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
  /**
   * The requests made by `work` lose their connection to the database before they send their statement of this number, from
   * 1, as when the process is killed there. Resolves with false if they sent fewer.
   */
  cutAt(statement: number, work: () => Promise<unknown>): Promise<boolean>;
}

interface Recording {
  readonly statements: string[];
  readonly cutAt?: number;
}

/** What collects the statements of the current request. */
const ofRequest = new AsyncLocalStorage<Recording>();
let watching = false;

export function createStatementRecorder(): StatementRecorder {
  watchStatements();
  let recording: Recording | undefined;
  async function record(made: Recording, work: () => Promise<unknown>): Promise<void> {
    recording = made;
    await work().finally(() => {
      recording = undefined;
    });
  }
  return {
    recorded: (handler) => (req, res) => {
      if (recording) ofRequest.run(recording, () => handler(req, res));
      else handler(req, res);
    },
    async statementsOf(work) {
      const statements: string[] = [];
      await record({ statements }, work);
      return statements;
    },
    async cutAt(statement, work) {
      const statements: string[] = [];
      await record({ statements, cutAt: statement }, work);
      return statements.length >= statement;
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
      const recording = ofRequest.getStore();
      recording?.statements.push(typeof statement === 'string' ? statement : textOf(statement));
      if (recording && recording.statements.length === recording.cutAt) cut(this);
      return Reflect.apply(send, this, given);
    },
  });
}

function textOf(statement: unknown): string {
  const { text } = statement as { text?: unknown };
  return typeof text === 'string' ? text : 'a statement without a text';
}

function cut(client: object): void {
  const { connection } = client as { connection?: { stream?: Socket } };
  if (!connection?.stream) throw new Error('pg has another way to hold its connection');
  connection.stream.destroy();
}
