export { openApiDocument } from './openapi.ts';
