import {
  type Client,
  captureTokenHold,
  createTokenHold,
  getUsagePrice,
  Problem,
  voidTokenHold,
} from '@attribution/contracts';
import type { Logger } from 'pino';

/** The tokens of a run: held before it, and spent when all of its scores are there. */
export interface Tokens {
  /** What so many ads cost. Throws `upstream-error` when Billing does not say. */
  priceOf(ads: number): Promise<number>;
  /** Holds tokens, once for each run. Throws `insufficient-balance`, or `upstream-error` when Account does not say. */
  hold(
    run: { readonly id: string; readonly account_id: string; readonly campaign_id: string },
    amount: number,
  ): Promise<string>;
  /** False if the hold is no longer there to be captured. Throws when Account does not say. */
  capture(holdId: string, amount: number): Promise<boolean>;
  /** False if it was captured. Throws when Account does not say. */
  release(holdId: string): Promise<boolean>;
}

/** Longer than all tries of a job may take, so that a run is over before its hold is. */
const heldFor = '1d';
const action = 'score_ad';

const later = (what: string) => new Problem('upstream-error', `${what}. Try again.`, { 'retry-after': '1' });

export function createTokens(clients: { readonly account: Client; readonly billing: Client }, logger: Logger): Tokens {
  const { account, billing } = clients;
  return {
    async priceOf(ads) {
      const answer = await billing.call(getUsagePrice, { params: { action } }).catch((err: unknown) => {
        logger.warn({ err }, 'The price of scoring is not known');
        throw later('The price is not known for now');
      });
      if (answer.problem) throw later('The price is not known for now');
      return answer.body.token_amount * ads;
    },
    async hold({ id, account_id, campaign_id }, amount) {
      const body = {
        ...{ account_id, amount, idempotency_key: `scoring ${id}`, expires_in: heldFor },
        description: `Scores of campaign ${campaign_id}`,
      };
      const answer = await account.call(createTokenHold, { body }).catch((err: unknown) => {
        logger.warn({ err }, 'Tokens could not be held for scoring');
        throw later('The tokens could not be held for now');
      });
      if (!answer.problem) return answer.body.id;
      const { kind, detail } = answer.problem;
      if (kind === 'insufficient-balance') throw new Problem(kind, detail);
      throw later('The tokens could not be held for now');
    },
    async capture(holdId, amount) {
      const answer = await account.call(captureTokenHold, { params: { id: holdId }, body: { amount } });
      return settled(answer.problem);
    },
    async release(holdId) {
      const answer = await account.call(voidTokenHold, { params: { id: holdId } });
      return settled(answer.problem);
    },
  };
}

/** A conflict says that the hold was settled another way, or has expired. */
function settled(problem: { readonly kind: string; readonly detail: string } | undefined): boolean {
  if (problem === undefined) return true;
  if (problem.kind === 'conflict') return false;
  throw new Error(`Account answers ${problem.kind}: ${problem.detail}`);
}
