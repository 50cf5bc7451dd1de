import kafkajs from 'kafkajs';

/** By which a broker says that it does not follow a producer's numbering any more. kafkajs would go on with what was refused. */
const spentTypes = new Set([
  'OUT_OF_ORDER_SEQUENCE_NUMBER',
  'DUPLICATE_SEQUENCE_NUMBER',
  'UNKNOWN_PRODUCER_ID',
  'INVALID_PRODUCER_ID_MAPPING',
  'INVALID_PRODUCER_EPOCH',
  'PRODUCER_FENCED',
]);

/** By which a broker refuses what is in a batch, or how much: fewer at once may pass. */
const refusalTypes = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'INVALID_RECORD', 'INVALID_TIMESTAMP']);

/** kafkajs wraps errors. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause ? causeOf(error.cause) : error;
}

/** Kafka's name of what a broker answered, at the bottom of an error; empty where it was something else. */
export const typeOf = (error: unknown): string => {
  const cause = causeOf(error);
  return cause instanceof Error && 'type' in cause ? String(cause.type) : '';
};

/** There is something about the batch that the broker does not take. */
export const isRefusal = (error: unknown): boolean => refusalTypes.has(typeOf(error));

/** The producer's own state is at fault: the broker says so, or kafkajs has tripped over itself. */
export const isSpent = (error: unknown): boolean =>
  spentTypes.has(typeOf(error)) || !(causeOf(error) instanceof kafkajs.KafkaJSError);
