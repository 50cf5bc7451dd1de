import { Problem } from '@attribution/contracts';

/** The answer of a service that owns what a request refers to. Throws `unavailable` where there is none, so that the request is sent again. */
export const answerOf = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch(() => {
    throw new Problem('unavailable', 'What the request refers to cannot be looked up at the moment.');
  });
