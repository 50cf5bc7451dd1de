export { type Download, sendDownload } from './downloads.ts';
export { answeredStatus, type HttpMetrics, observeHttp } from './http-metrics.ts';
export { keepAlive, keptByClients, listen, type RunningServer } from './http-server.ts';
export { findFault, readBytes, readJsonBody } from './json-body.ts';
export { problemOf, writeProblem } from './problem-response.ts';
export {
  givenTraceparent,
  newTraceparent,
  queryOf,
  type RequestContext,
  requestContext,
  requestIdOf,
} from './request.ts';
export { requestRecorder } from './request-record.ts';
export { openSpool, type Spool } from './spool.ts';
export { receiveUpload, type Upload } from './uploads.ts';
export { faultOf, validate } from './validate.ts';
