/** What a call was answered with. Rejects with the problem if it failed. */
export const done = async <T>(answer: Promise<{ readonly body: T }>): Promise<T> => (await answer).body;
