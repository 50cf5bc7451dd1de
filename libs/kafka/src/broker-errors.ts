import kafkajs from 'kafkajs';

/** A broker's errors about a producer's sequence numbers. kafkajs would continue with the numbers that were refused. */
const spentTypes = new Set([
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'DUPLICATE_SEQUENCE_NUMBER',
  'UNKNOWN_PRODUCER_ID',
  'INVALID_PRODUCER_ID_MAPPING',
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
]);

/** A broker's errors about the contents or the size of a batch: parts of it may be accepted. */
const refusalTypes = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']);

/** kafkajs wraps errors. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause ? causeOf(error.cause) : error;
}

/** Kafka's name of the error that a broker returned; empty where the cause is something else. */
export const typeOf = (error: unknown): string => {
  const cause = causeOf(error);
  return cause instanceof Error && 'type' in cause ? String(cause.type) : '';
};

/** The broker refuses the batch as it is. */
export const isRefusal = (error: unknown): boolean => refusalTypes.has(typeOf(error));

/** The producer itself can no longer be used: the broker says so, or kafkajs failed with an error that is not its own. */
export const isSpent = (error: unknown): boolean =>
  spentTypes.has(typeOf(error)) || !(causeOf(error) instanceof kafkajs.KafkaJSError);
