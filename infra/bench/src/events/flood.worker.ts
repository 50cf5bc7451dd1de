/**
 * A device that sends full batches one after the other, in a thread of its own: its work holds up nobody who measures. For
 * that it makes one batch, and gives its items new ids each time.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { newUuid } from '@attribution/ids';
import { batchOf, drawPlays, type Playing } from './plays.ts';
import { openSender, type Place } from './sender.ts';

/** Batches that a service gets before it is measured. */
const warmUp = 50;

const { place, playing, path, items } = workerData as { place: Place; playing: Playing; path: string; items: number };
const sender = openSender(place);
const plays = drawPlays(playing, items);
const batch = batchOf(plays);
const places = plays.map(({ event_id }) => batch.body.indexOf(event_id));
let done = false;
parentPort?.once('message', () => {
  done = true;
});
for (let sent = 0; !done; sent++) {
  if (sent === warmUp) parentPort?.postMessage('warm');
  await sender.send(path, batch);
  for (const at of places) batch.body.write(newUuid(), at);
}
sender.close();
