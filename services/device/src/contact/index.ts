export { bootstrapEndpoint } from './bootstrap.ts';
export { challengeEndpoint } from './challenge.ts';
export { createSignatureJudge } from './signature.ts';
