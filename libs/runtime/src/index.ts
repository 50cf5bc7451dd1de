export { type Clock, systemClock } from './clock.ts';
export {
  addressSetting,
  budgetSettings,
  defaultBudgets,
  processSettings,
  readConfig,
  servingSettings,
  setting,
} from './config.ts';
export { attemptWithin, withDeadline } from './deadline.ts';
export { describeSettings, type SettingDescription } from './describe-settings.ts';
export { messageOf } from './error-message.ts';
export { delayFullCollections } from './garbage-collection.ts';
export { inBatches } from './in-batches.ts';
export { isRunning } from './is-running.ts';
export { createLogger } from './logger.ts';
export { createPace, type Pace } from './pace.ts';
export { observeProcess, writeMetrics } from './process-metrics.ts';
export { openProcessTracing } from './process-tracing.ts';
export { type Role, RoleSetting, type RunningRole } from './role.ts';
export { onStopSignal, stopTimeoutMs } from './stop-signal.ts';
export { createTurns, type EndTurn, type TurnOptions, type Turns, type TurnTaker } from './turns.ts';
