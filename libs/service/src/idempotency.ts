import { createHash } from 'node:crypto';
import { type Endpoint, Problem } from '@attribution/contracts';
import type { Database, RunTransaction, SqlTransaction } from '@attribution/database';
import { newUuid } from '@attribution/ids';
import type { Clock } from '@attribution/runtime';

/** How long a key is kept (decision 9). */
export const keysKeptMs = 24 * 60 * 60 * 1000;
const shape = /^[\x21-\x7e]{1,255}$/;

/** A request that carries an `Idempotency-Key`. */
export interface KeyedRequest {
  readonly contract: Endpoint;
  readonly key: string;
  readonly accountId: string;
  readonly callerId: string;
  /** The parsed input, by which a repetition is distinguished from another request under the same key. */
  readonly input: unknown;
}

export interface Idempotency {
  /**
   * Does the work once for each key, and gives the same response to a repetition. The work is given a `runTransaction` that
   * claims the key before the work's statements and stores their result after them; the work must return that result.
   * Throws `conflict` for another request under the key, and for a repetition of a response that contained a secret.
   */
  once<Tx extends SqlTransaction>(
    request: KeyedRequest,
    runTransaction: RunTransaction<Tx>,
    work: (runTransaction: RunTransaction<Tx>) => Promise<unknown>,
  ): Promise<unknown>;
  /**
   * For work whose effect is in another system, so that no transaction can cover both the effect and the stored response.
   * The key stands for an attempt. Until a response is stored, a repetition does the work again under the id of the same
   * attempt, so that the other system does it once. A refusal is not stored: the next request is a new attempt.
   */
  attempt(request: KeyedRequest, work: (attempt: string) => Promise<unknown>): Promise<unknown>;
  /** Whether a request was handled under the key. */
  knows(request: Omit<KeyedRequest, 'input'>): Promise<boolean>;
}

/** The header's value, if this endpoint accepts the header. Throws `validation-error` if the value is malformed. */
export function idempotencyKeyOf(contract: Endpoint, header: string | string[] | undefined): string | undefined {
  if (!contract.idempotent || header === undefined) return undefined;
  if (typeof header === 'string' && shape.test(header)) return header;
  throw new Problem('validation-error', 'Idempotency-Key: must be 1 to 255 visible ASCII characters.');
}

interface Kept {
  readonly request_hash: string;
  readonly answer: unknown;
  readonly resource_id: string | null;
}

/** Another request has claimed the key. Thrown to roll back this request's transaction. */
class KeyTaken extends Error {}

export function createIdempotency(
  database: Pick<Database<SqlTransaction, SqlTransaction>, 'pool'>,
  clock: Clock,
): Idempotency {
  const horizon = () => new Date(clock.now().getTime() - keysKeptMs);

  async function find({ accountId, contract, key }: Omit<KeyedRequest, 'input'>): Promise<Kept | undefined> {
    const { rows } = await database.pool.query<Kept>(
      `SELECT request_hash, answer, resource_id FROM idempotency_keys
       WHERE account_id = $1 AND operation = $2 AND key = $3 AND created_at > $4`,
      [accountId, contract.operation, key, horizon()],
    );
    return rows[0];
  }

  /** Claims the key. If another request is being handled under it, this waits for its transaction to end. */
  async function take(tx: SqlTransaction, { accountId, contract, key }: KeyedRequest, hash: string): Promise<void> {
    const taken = await tx.$executeRawUnsafe(
      `INSERT INTO idempotency_keys AS k (account_id, operation, key, request_hash, created_at)
       VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (account_id, operation, key) DO UPDATE
         SET request_hash = excluded.request_hash, answer = NULL, resource_id = NULL, created_at = excluded.created_at
         WHERE k.created_at <= $6`,
      accountId,
      contract.operation,
      key,
      hash,
      clock.now(),
      horizon(),
    );
    if (taken === 0) throw new KeyTaken();
  }

  async function keep(tx: SqlTransaction, { accountId, contract, key }: KeyedRequest, answer: unknown): Promise<void> {
    await tx.$executeRawUnsafe(
      `UPDATE idempotency_keys SET answer = $4::json, resource_id = $5
       WHERE account_id = $1 AND operation = $2 AND key = $3`,
      accountId,
      contract.operation,
      key,
      contract.idempotent === 'secret' ? null : JSON.stringify(answer),
      idIn(answer),
    );
  }

  /** The attempt that the key stands for: a new one, or the one that was begun before. */
  async function begin(request: KeyedRequest, hash: string): Promise<Kept> {
    const { accountId, contract, key } = request;
    for (;;) {
      const { rows } = await database.pool.query<Kept>(
        `INSERT INTO idempotency_keys AS k (account_id, operation, key, request_hash, resource_id, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (account_id, operation, key) DO UPDATE
           SET request_hash = excluded.request_hash, answer = NULL, resource_id = excluded.resource_id, created_at = excluded.created_at
           WHERE k.created_at <= $7
         RETURNING request_hash, answer, resource_id`,
        [accountId, contract.operation, key, hash, newUuid(), clock.now(), horizon()],
      );
      const found = rows[0] ?? (await find(request));
      if (found) return found;
    }
  }

  /**
   * Stores the response, or only the id of what was made if the response contains a secret. It may have to insert the row
   * again: a concurrent repetition that was refused deletes it.
   */
  async function finish({ accountId, contract, key }: KeyedRequest, hash: string, answer: unknown): Promise<void> {
    const kept = contract.idempotent === 'secret' ? {} : (answer ?? {});
    await database.pool.query(
      `INSERT INTO idempotency_keys AS k (account_id, operation, key, request_hash, answer, resource_id, created_at)
       VALUES ($1, $2, $3, $4, $5::json, $6, $7)
       ON CONFLICT (account_id, operation, key) DO UPDATE
         SET request_hash = excluded.request_hash, answer = excluded.answer, resource_id = excluded.resource_id
         WHERE k.answer IS NULL`,
      [accountId, contract.operation, key, hash, JSON.stringify(kept), idIn(answer), clock.now()],
    );
  }

  async function forget({ accountId, contract, key }: KeyedRequest, attempt: string): Promise<void> {
    await database.pool.query(
      `DELETE FROM idempotency_keys
       WHERE account_id = $1 AND operation = $2 AND key = $3 AND resource_id = $4 AND answer IS NULL`,
      [accountId, contract.operation, key, attempt],
    );
  }

  return {
    knows: async (request) => (await find(request)) !== undefined,
    async attempt(request, work) {
      const hash = hashOf(request);
      const begun = await begin(request, hash);
      if (begun.answer !== null || begun.request_hash !== hash) return replay(request.contract, begun, hash);
      const attempt = begun.resource_id ?? '';
      try {
        const answer = await work(attempt);
        await finish(request, hash, answer);
        return answer;
      } catch (error) {
        if (error instanceof Problem && error.status < 500) await forget(request, attempt);
        throw error;
      }
    },
    async once(request, runTransaction, work) {
      const { contract } = request;
      const hash = hashOf(request);
      const known = await find(request);
      if (known) return replay(contract, known, hash);
      try {
        return await work((inTransaction) =>
          runTransaction(async (tx) => {
            await take(tx, request, hash);
            const result = await inTransaction(tx);
            await keep(tx, request, contract.success.body && result);
            return result;
          }),
        );
      } catch (error) {
        const other = error instanceof KeyTaken && (await find(request));
        if (other) return replay(contract, other, hash);
        throw error;
      }
    },
  };
}

const hashOf = ({ callerId, input }: KeyedRequest) =>
  createHash('sha256')
    .update(JSON.stringify([callerId, input]))
    .digest('hex');

const idIn = (answer: unknown) => (answer as { id?: string } | undefined)?.id ?? null;

function replay({ idempotent }: Endpoint, { request_hash, answer, resource_id }: Kept, hash: string): unknown {
  if (request_hash !== hash) throw new Problem('conflict', 'Idempotency-Key: was used for another request.');
  if (idempotent !== 'secret') return answer ?? undefined;
  throw new Problem(
    'conflict',
    `Idempotency-Key: this request was done, and made ${resource_id}. Its answer held a secret, which is shown once.`,
  );
}
