import type { KillStep } from '../crash/kill/kill-at.ts';

/** The points at which the platform is killed: between all steps from the request for scores to the last of them. */
export const steps: readonly KillStep[] = [
  { name: 'before the run is written', before: 'insert into scoring_runs' },
  { name: 'after the run is written, before the commit', after: 'insert into scoring_runs' },
  { name: 'after the run is committed', committed: 'insert into scoring_runs' },
  { name: 'before its price is written', before: 'update scoring_runs set amount' },
  { name: 'after its price is written', after: 'update scoring_runs set amount' },
  { name: 'after the tokens are held, before the commit', after: 'insert into token_holds' },
  { name: 'after the hold is committed', committed: 'insert into token_holds' },
  { name: 'before the job is written', before: 'insert into jobs' },
  { name: 'before the run has its job', before: 'update scoring_runs set state = $1, hold_id' },
  { name: 'after the job is committed', committed: 'update scoring_runs set state = $1, hold_id' },
  { name: 'before the result is written', before: 'update scoring_runs set state = $1, result' },
  { name: 'after the result is written', after: 'update scoring_runs set state = $1, result' },
  { name: 'before the tokens are spent', before: 'update token_holds' },
  { name: 'after the tokens are spent', committed: 'update token_holds' },
  { name: 'before the scores are written', before: 'insert into scores' },
  { name: 'after the scores are written, before the commit', after: 'insert into scores' },
  { name: 'after the scores are committed', committed: 'insert into scores' },
];
