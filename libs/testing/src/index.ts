export { createTestClock } from './clock.ts';
export { createTestDatabase, type TestDatabase } from './database.ts';
export { templateName, testParts } from './environment.ts';
export { eventually } from './eventually.ts';
export { captureLogs } from './logs.ts';
export { openMailbox } from './mailbox.ts';
export { problemBase, startTestService, type TestService } from './service.ts';
export { keyToken, personToken, testKeys, testSigner } from './tokens.ts';
