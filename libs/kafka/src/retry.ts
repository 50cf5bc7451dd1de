import type { Logger } from 'pino';
import { maxRetryPauseMs } from './client.ts';

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

interface RetryOptions {
  readonly logger: Logger;
  /** Logged with the error of each attempt that fails. */
  readonly message: string;
  /** Asked before each attempt: true ends the retries. */
  readonly isOver: () => boolean;
}

/** Repeats `attempt` until it succeeds, with growing pauses: a broker may start later than this process, or restart. */
export async function retry(attempt: () => Promise<void>, { logger, message, isOver }: RetryOptions): Promise<void> {
  for (let pauseMs = 250; !isOver(); pauseMs = Math.min(pauseMs * 2, maxRetryPauseMs)) {
    try {
      return await attempt();
    } catch (error) {
      logger.warn({ err: error }, message);
      await pause(pauseMs);
    }
  }
}
