export { observeBudget } from './budget-metrics.ts';
export { type ByteBudget, type Claim, createByteBudget } from './byte-budget.ts';
export { networkOf } from './client-network.ts';
export type { ConnectionCap } from './connection-cap.ts';
export { type Download, sendDownload } from './downloads.ts';
export { answeredStatus, type HttpMetrics, observeHttp } from './http-metrics.ts';
export { keepAlive, keptByClients, type ListenOptions, listen, type RunningServer } from './http-server.ts';
export { findFault, isJsonMedia, parseJsonBody, readBytes, readJson } from './json-body.ts';
export { problemOf, writeProblem } from './problem-response.ts';
export { newRequestId } from './random.ts';
export { readBody } from './read-body.ts';
export { createRefusalLog, type RefusalLog, type Refused } from './refusal-log.ts';
export { observeRefusals } from './refusal-metrics.ts';
export {
  givenTraceparent,
  newTraceparent,
  platformIdHeader,
  queryOf,
  type RequestContext,
  requestContext,
  requestIdOf,
  userAgentOf,
} from './request.ts';
export { type RequestCaller, requestRecorder } from './request-record.ts';
export { securityHeaders } from './security-headers.ts';
export { type SentFile, sendFile } from './send-file.ts';
export { openSpool, type Spool } from './spool.ts';
export { admitUpload, receiveUpload, type Upload } from './uploads.ts';
export { faultOf, judge, parse, readItem, validate } from './validate.ts';
