import { setTimeout as sleep } from 'node:timers/promises';

const patienceMs = 60_000;
const pauseMs = 250;

/** Sends again what was answered 503, by which nothing was done: on a busy machine that is no fault. */
export const patientFetch: typeof fetch = async (...request) => {
  for (const deadline = Date.now() + patienceMs; ; await sleep(pauseMs)) {
    const response = await fetch(...request);
    if (response.status !== 503 || Date.now() > deadline) return response;
    await response.body?.cancel();
  }
};
