/** A device that sends full batches one after the other, in a thread of its own: its work holds up nobody who measures. */
import { parentPort, workerData } from 'node:worker_threads';
import { batchOf, drawPlays, type Playing } from './plays.ts';
import { openSender, type Place } from './sender.ts';

const { place, playing, path, items } = workerData as { place: Place; playing: Playing; path: string; items: number };
const sender = openSender(place);
let done = false;
parentPort?.once('message', () => {
  done = true;
});
while (!done) await sender.send(path, batchOf(drawPlays(playing, items)));
sender.close();
