import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import { lockCampaign } from '../campaigns/index.ts';
import type { ScoringDependencies } from './dependencies.ts';
import { readFacts } from './facts.store.ts';
import { signatureOf } from './facts.ts';
import { changeRun, deleteRun, findRun, insertRun, lockRun, type RunRow } from './run.store.ts';

/**
 * Begins a run, and freezes what it scores. The id is that of the attempt: a repeated request goes on with its own run,
 * wherever the process of the first one died.
 */
export async function beginRun(
  { database, clock, scorer }: ScoringDependencies,
  caller: Principal,
  campaignId: string,
  id: string,
): Promise<RunRow> {
  const known = await findRun(database.sql, id);
  if (known) return known;
  return database.sqlTransaction(async (tx) => {
    const campaign = await lockCampaign(tx, caller, campaignId);
    if (!campaign) throw Problem.notFound();
    if (campaign.status === 'archived') throw new Problem('conflict', 'The campaign is archived.');
    if (campaign.ads.length === 0) throw new Problem('unprocessable', 'The campaign has no ads to score.');
    const facts = await readFacts(tx, campaign);
    const signature = signatureOf(scorer.model, facts);
    const now = clock.now();
    const { account_id } = campaign;
    const run = { id, account_id, campaign_id: campaignId, signature, created_by: caller.id, created_at: now };
    if (!(await insertRun(tx, { ...run, updated_at: now }, facts)))
      throw new Problem('conflict', 'The campaign is being scored.');
    if (campaign.scored_signature === signature)
      throw new Problem('conflict', 'Nothing has changed since the campaign was scored.');
    const begun = await findRun(tx, id);
    if (!begun) throw new Error('The run was inserted in this transaction');
    return begun;
  });
}

/** Holds the tokens of a run, and gives it a job. What was done before is not done again. */
export async function engageRun(
  deps: ScoringDependencies,
  run: RunRow,
): Promise<{ job_id: string; hold_id: string | null }> {
  const { database, clock, jobs } = deps;
  if (run.job_id !== null) return { job_id: run.job_id, hold_id: run.hold_id };
  const hold_id = await holdTokens(deps, run);
  return database.sqlTransaction(async (tx) => {
    const locked = await lockRun(tx, run.id);
    if (locked?.job_id) return { job_id: locked.job_id, hold_id: locked.hold_id };
    // It was given up, because this took too long. Whoever did that releases its tokens.
    if (locked?.state !== 'holding')
      throw new Problem('unavailable', 'The run took too long to begin. Try again.', { 'retry-after': '1' });
    const { account_id, campaign_id, created_by } = locked;
    const job_id = await jobs.begin(tx, {
      ...{ kind: 'campaign_scoring', account_id, subject_id: campaign_id, created_by, hold_id },
      data: { run_id: run.id },
    });
    await changeRun(tx, run.id, { state: 'queued', hold_id, job_id }, clock.now());
    return { job_id, hold_id };
  });
}

async function holdTokens({ database, clock, tokens }: ScoringDependencies, run: RunRow): Promise<string | null> {
  let { amount } = run;
  try {
    if (amount === null) {
      const price = await tokens.priceOf(run.facts.ads.length);
      // Written first, so that whoever finishes a lost run asks for the same hold.
      await changeRun(database.sql, run.id, { amount: price }, clock.now());
      amount = price;
    }
    return amount === 0 ? null : await tokens.hold(run, amount);
  } catch (error) {
    const holdsNothing = amount === null || (error instanceof Problem && error.kind === 'insufficient-balance');
    if (holdsNothing) await deleteRun(database.sql, run.id);
    throw error;
  }
}
