/**
 * Preloaded into a process of the platform (`--import`): watches its calls of pg and kafkajs, and kills it with SIGKILL at
 * a named point. The platform has no code for this. If its queries change so that they are not recognised here, the point
 * is never reached and the experiment fails.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { writeSync } from 'node:fs';
import kafkajs, { type ConsumerRunConfig, type EachBatchHandler, type EachBatchPayload } from 'kafkajs';
import pg from 'pg';
import type { KillPoint } from './kill-points.ts';
import { watchQueries } from './watch-queries.ts';

const { searchParams } = new URL(import.meta.url);
const wanted = searchParams.get('point');
const killAtPass = Number(searchParams.get('pass'));
const subject = searchParams.get('subject');
const concernsSubject = (rows: string) => subject === null || rows.includes(`"${subject}"`);
const writesToSubject = (sql: string) =>
  subject === null || new RegExp(`\\b(into|update|from)\\s+("public"\\.)?"?${subject}\\b`, 'i').test(sql);

let armed = false;
let passes = 0;
process.on('SIGUSR2', () => {
  armed = true;
});

function pass(point: KillPoint): void {
  if (!armed || point !== wanted || ++passes < killAtPass) return;
  writeSync(2, `Killed: ${point}, passing ${passes}\n`);
  process.kill(process.pid, 'SIGKILL');
}

/** An open transaction of a connection. */
interface Transaction {
  appended: boolean;
  marked: boolean;
  /** Whether it wrote to the subject. */
  wrote: boolean;
}
/** A batch that a Kafka consumer is handling. */
interface Batch {
  readonly size: number;
  commits: number;
}
const batches = new AsyncLocalStorage<Batch>();
/** Without Kafka, a batch consists of the events that a relay has claimed last. */
let claimed = 0;

const transactions = new WeakMap<object, Transaction>();
const isAppend = /\binsert\s+into\s+"?outbox\b/i;
const isMark = /\binsert\s+into\s+"?inbox\b/i;
const isRemoval = /\bdelete\s+from\s+"?outbox\b/i;
const isClaim = /\bevent_id\b.*\bfrom\s+"?outbox\b/is;
const isWriting = /^\s*(insert|update|delete|with|merge)\b/i;
const is = (word: RegExp, text: string) => word.test(text);
/** The relay's statement both deletes the acknowledged events and reads the next ones; the first time it deletes none. */
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
    if (open && is(isWriting, text) && writesToSubject(text)) open.wrote = true;
    if (is(/^\s*(commit|rollback)\s*;?\s*$/i, text)) {
      transactions.delete(client);
      if (is(/commit/i, text) && open) committed(open);
    } else if (is(isAppend, text)) {
      if (open) open.appended = true;
    } else if (is(isMark, text)) {
      if (open) open.marked = true;
    } else if (is(isClaim, text) && rows.length > 0) {
      claimed = rows.length;
      if (concernsSubject(JSON.stringify(rows))) pass('after the relay claims');
    } else if (open?.marked && is(isWriting, text) && writesToSubject(text)) {
      if ((batches.getStore()?.size ?? claimed) > 1) pass('mid-batch');
    }
  },
});

function committed({ appended, marked, wrote }: Transaction): void {
  const batch = batches.getStore();
  if (marked && batch) batch.commits++;
  if (appended && !marked && wrote) pass('after commit');
}

/** Wraps a batch handler, because the offset moves when the handler commits it or when the handler returns. */
function watchBatches(handle: EachBatchHandler): EachBatchHandler {
  return (payload: EachBatchPayload) => {
    const batch: Batch = { size: payload.batch.messages.length, commits: 0 };
    const onOffsetMove = () => {
      if (batch.commits > 0) pass('after the effect before the offset');
    };
    return batches.run(batch, async () => {
      await handle({
        ...payload,
        resolveOffset: (offset) => {
          onOffsetMove();
          payload.resolveOffset(offset);
        },
        commitOffsetsIfNecessary: async (offsets) => {
          onOffsetMove();
          await payload.commitOffsetsIfNecessary(offsets);
        },
      });
      onOffsetMove();
    });
  };
}

const plainConsumer = kafkajs.Kafka.prototype.consumer;
kafkajs.Kafka.prototype.consumer = function consumer(this: kafkajs.Kafka, config) {
  const consumer = plainConsumer.call(this, config);
  return {
    ...consumer,
    run: (run?: ConsumerRunConfig) =>
      consumer.run(run?.eachBatch ? { ...run, eachBatch: watchBatches(run.eachBatch) } : run),
  };
};
