/** The honest ones. Measures a period after the other, as its parent asks for it (`HonestRequest`), and answers with an `Honest`. */
import { startHonest } from './clients.ts';
import type { HonestOrder, HonestRequest } from './honest.ts';

const { url, people, rates } = JSON.parse(process.env.HONEST ?? '') as HonestOrder;
const clients = startHonest(url, people, rates);

// It has a session of its own, so nothing else ends it when its parent is killed.
process.once('disconnect', () => process.exit());
process.on('message', async (request: HonestRequest) => {
  if (request === 'take') process.send?.(await clients.take());
  else clients.replace(...request);
});
process.send?.('started');
