export { listScoresEndpoint, scoreCampaignEndpoint } from './endpoints.ts';
export { finishLostRuns } from './finish-lost.ts';
export { heuristic } from './heuristic.ts';
export { createHttpScorer } from './http-scorer.ts';
export { createTokens } from './tokens.ts';
export { scoringWork } from './work.ts';
