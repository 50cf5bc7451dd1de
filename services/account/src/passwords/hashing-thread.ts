import os from 'node:os';
import { parentPort } from 'node:worker_threads';
import bcrypt from 'bcrypt';

/** A hash to make of a value at a cost, or to compare with the value. */
export type Work = { readonly value: string } & ({ readonly cost: number } | { readonly against: string });

/** Between what serves requests and nothing: of a core that both want, hashing gets about a tenth. */
const niceness = 10;

// On Linux a thread has a priority of its own, and 0 is the thread that asks; elsewhere it is the process's.
if (process.platform === 'linux') os.setPriority(0, niceness);

parentPort?.on('message', (work: Work) => {
  parentPort?.postMessage(
    'cost' in work ? bcrypt.hashSync(work.value, work.cost) : bcrypt.compareSync(work.value, work.against),
  );
});
