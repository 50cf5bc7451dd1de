/**
 * Loaded before a program of the platform (`--import`): watches what it says to Postgres and to kafkajs, and ends it with
 * SIGKILL at a named point. The program itself knows nothing of it. What is recognised here may drift away from what the
 * platform does: then the point is never reached, and the experiment fails.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { writeSync } from 'node:fs';
import kafkajs, { type ConsumerRunConfig, type EachBatchHandler, type EachBatchPayload } from 'kafkajs';
import pg from 'pg';
import type { KillPoint } from './kill-points.ts';
import { watchQueries } from './watch-queries.ts';

const { searchParams } = new URL(import.meta.url);
const wanted = searchParams.get('point');
const at = Number(searchParams.get('at'));
const of = searchParams.get('of');
const tellsOfIt = (rows: string) => of === null || rows.includes(`"${of}"`);
const writesToIt = (sql: string) =>
  of === null || new RegExp(`\\b(into|update|from)\\s+("public"\\.)?"?${of}\\b`, 'i').test(sql);

let armed = false;
let passed = 0;
process.on('SIGUSR2', () => {
  armed = true;
});

function pass(point: KillPoint): void {
  if (!armed || point !== wanted || ++passed < at) return;
  writeSync(2, `Killed: ${point}, passing ${passed}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** A transaction that is open on a connection. */
interface Transaction {
  appended: boolean;
  marked: boolean;
  /** What is asked for by `of`. */
  wrote: boolean;
}
/** A batch that a Kafka consumer has in hand. */
interface Batch {
  readonly size: number;
  commits: number;
}
const batches = new AsyncLocalStorage<Batch>();
/** Without Kafka a batch is what a relay has claimed last. */
let claimed = 0;

const transactions = new WeakMap<object, Transaction>();
const isAppend = /\binsert\s+into\s+"?outbox\b/i;
const isMark = /\binsert\s+into\s+"?inbox\b/i;
const isRemoval = /\bdelete\s+from\s+"?outbox\b/i;
const isClaim = /\bevent_id\b.*\bfrom\s+"?outbox\b/is;
const isWriting = /^\s*(insert|update|delete|with|merge)\b/i;
const is = (word: RegExp, text: string) => word.test(text);
/** A relay may remove what is acknowledged in the statement that reads on: at first that is nothing. */
const isNone = (acknowledged: unknown) => Array.isArray(acknowledged) && acknowledged.length === 0;

watchQueries(pg.Client.prototype, {
  before(client, text, [first]) {
    const open = transactions.get(client);
    if (is(/^\s*(begin|start\s+transaction)\b/i, text))
      transactions.set(client, { appended: false, marked: false, wrote: false });
    else if (is(/^\s*commit\b/i, text) && open?.appended && !open.marked) pass('before commit');
    else if (is(isRemoval, text) && !isNone(first)) pass('after produce before marking');
  },
  after(client, text, rows) {
    const open = transactions.get(client);
    if (open && is(isWriting, text) && writesToIt(text)) open.wrote = true;
    if (is(/^\s*(commit|rollback)\s*;?\s*$/i, text)) {
      transactions.delete(client);
      if (is(/commit/i, text) && open) committed(open);
    } else if (is(isAppend, text)) {
      if (open) open.appended = true;
    } else if (is(isMark, text)) {
      if (open) open.marked = true;
    } else if (is(isClaim, text) && rows.length > 0) {
      claimed = rows.length;
      if (tellsOfIt(JSON.stringify(rows))) pass('after the relay claims');
    } else if (open?.marked && is(isWriting, text) && writesToIt(text)) {
      if ((batches.getStore()?.size ?? claimed) > 1) pass('mid-batch');
    }
  },
});

function committed({ appended, marked, wrote }: Transaction): void {
  const batch = batches.getStore();
  if (marked && batch) batch.commits++;
  if (appended && !marked && wrote) pass('after commit');
}

/** The offset moves when a batch's handler says so, or when it is done. */
function watched(handle: EachBatchHandler): EachBatchHandler {
  return (payload: EachBatchPayload) => {
    const batch: Batch = { size: payload.batch.messages.length, commits: 0 };
    const moving = () => {
      if (batch.commits > 0) pass('after the effect before the offset');
    };
    return batches.run(batch, async () => {
      await handle({
        ...payload,
        resolveOffset: (offset) => {
          moving();
          payload.resolveOffset(offset);
        },
        commitOffsetsIfNecessary: async (offsets) => {
          moving();
          await payload.commitOffsetsIfNecessary(offsets);
        },
      });
      moving();
    });
  };
}

const plainConsumer = kafkajs.Kafka.prototype.consumer;
kafkajs.Kafka.prototype.consumer = function consumer(this: kafkajs.Kafka, config) {
  const made = plainConsumer.call(this, config);
  return {
    ...made,
    run: (run?: ConsumerRunConfig) => made.run(run?.eachBatch ? { ...run, eachBatch: watched(run.eachBatch) } : run),
  };
};
