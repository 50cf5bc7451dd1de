export { badTokens } from './bad-tokens.ts';
export { type Certified, createTestAuthority, selfSigned } from './certificates.ts';
export { type Chance, chanceFrom } from './chance.ts';
export { createTestClock } from './clock.ts';
export { createTestDatabase, keepDeadlocks, openBareDatabase, type TestDatabase } from './database.ts';
export { templateName, testServers } from './environment.ts';
export { eventually, untilServed } from './eventually.ts';
export { modulesLoadedBy } from './loaded-modules.ts';
export { captureLogs } from './logs.ts';
export { type Mailbox, openMailbox } from './mailbox.ts';
export { mortal } from './mortal.ts';
export {
  baseRate,
  exposedRate,
  itemsOf,
  makeWorld,
  plantedWindow,
  type Scenario,
} from './planted-worlds.ts';
export { countRecords, oneRecordEach, recordsOf } from './record-counts.ts';
export { type Items, type Question, type RawPlay, type RawVisit, recountOf } from './recount.ts';
export { resumingClient } from './resuming-client.ts';
export { sendRaw } from './send-raw.ts';
export { patientLimits, problemBase, startTestService, type TestService, worthlessSettings } from './service.ts';
export { startStandIn } from './stand-in.ts';
export { countStatements, numbersOf, type StatementTable } from './statement-counts.ts';
export { tamper } from './tamper.ts';
export {
  deviceToken,
  internalToken,
  keyToken,
  personToken,
  supportToken,
  testInternal,
  testInternalKeys,
  testKeys,
  testSigner,
} from './tokens.ts';
