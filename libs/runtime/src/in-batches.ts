import DataLoader from 'dataloader';
import pLimit from 'p-limit';

/** Batches at once: two, so that one is answered while the next is collected. */
const lanes = 2;

/**
 * Calls that arrive while others are being answered are collected and answered together, by one statement or one request, in
 * the order of their arrival, at most `mostCalls` of them. A call that arrives alone does not wait. A failure is that of every call
 * of its batch.
 */
export function inBatches<Call, Answer>(
  answer: (calls: readonly Call[]) => Promise<readonly Answer[]>,
  mostCalls = 64,
): (call: Call) => Promise<Answer> {
  const lane = pLimit(lanes);
  let inProgress: Promise<unknown> = Promise.resolve();
  const loader = new DataLoader<Call, Answer>(
    (calls) => {
      const answers = answer(calls);
      inProgress = answers;
      return answers;
    },
    {
      cache: false,
      maxBatchSize: mostCalls,
      batchScheduleFn: (dispatch) =>
        void lane(async () => {
          dispatch();
          await inProgress.catch(() => {}); // Those who have called are told.
        }),
    },
  );
  return (call) => loader.load(call);
}
