import { openWire } from '@attribution/simulator';
import { type Case, compact, type Row, type Tools } from '../case.ts';
import { allRefusals, type Contact, type Refusal } from '../devices/refusals.ts';
import { type Stage, startStage } from '../devices/stage.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { spreadOf } from '../statistics.ts';

/** How far the ratio of the medians may be from 1. */
const tolerance = 0.1;
/** Requests of each kind. */
const triesOf = ({ smoke }: Tools) => (smoke ? 3 : 600);
/** An address may try each endpoint 300 times a minute. */
const triesOfAddress = 100;

/** Sends requests, a hundred pairs of them from one address, on a connection that is kept. */
function openSender({ ingress, authority }: Stage) {
  let addresses = 0;
  let wire: ReturnType<typeof openWire> | undefined;
  const send = async ({ path, body, signature }: Contact) => {
    wire ??= openNext();
    return wire.send('POST', path, body, signature === undefined ? {} : { 'x-device-signature': signature });
  };
  function openNext() {
    const localAddress = `127.0.${1 + (addresses >> 7)}.${1 + (addresses++ & 127)}`;
    return openWire({ url: ingress.url, ca: authority.root, localAddress, timeoutMs: 15_000 });
  }
  return {
    send,
    async next(first: Contact): Promise<void> {
      wire?.close();
      wire = undefined;
      await send(first);
    },
    close: () => wire?.close(),
  };
}
type Sender = ReturnType<typeof openSender>;

/** Sends both kinds in turn, each first every other time. Returns milliseconds. */
async function timed(sender: Sender, { refused, reference }: Refusal, tries: number) {
  const times = { refused: [] as number[], reference: [] as number[] };
  const statuses = new Set<number>();
  const kinds = [
    ['refused', refused],
    ['reference', reference],
  ] as const;
  for (let n = 0; n < tries; n++) {
    if (n % triesOfAddress === 0) await sender.next(reference(n));
    // With the kinds of keys, of which there are three, in turn: over six tries each comes first with each.
    for (const [kind, contact] of n % 2 === 0 ? kinds : kinds.toReversed()) {
      const request = contact(n);
      const began = performance.now();
      const { status } = await sender.send(request);
      times[kind].push(performance.now() - began);
      statuses.add(status);
    }
  }
  const alike = statuses.size === 1 && statuses.has(401);
  return { refused: spreadOf(times.refused).median, reference: spreadOf(times.reference).median, alike };
}

async function rowOf(sender: Sender, refusal: Refusal, tools: Tools): Promise<Row> {
  const tries = triesOf(tools);
  const { refused, reference, alike } = await timed(sender, refusal, tries);
  const ratio = refused / reference;
  tools.say(`  ${refusal.what}: ${refused.toFixed(2)} ms and ${reference.toFixed(2)} ms, ratio ${ratio.toFixed(3)}`);
  return {
    what: `${refusal.what}: 401 beside that of a wrong signature, medians of ${tries}`,
    ours: `${compact(refused)} ms`,
    beside: `${compact(reference)} ms`,
    ratio: { median: ratio, low: ratio, high: ratio },
    bar: `${1 - tolerance} to ${1 + tolerance}`,
    holds: alike && Math.abs(ratio - 1) <= tolerance,
  };
}

/** Whether response times of first contact tell which devices there are, and how they stand. Through the ingress. */
export const deviceTiming: Case = {
  name: 'device: refusals of first contact take alike',
  run: (tools) =>
    withDatabase(tools, 'device', async (database) => {
      const stage = await startStage(database);
      const sender = openSender(stage);
      try {
        const refusals = await allRefusals(database, async (contact) => (await sender.send(contact)).status);
        const rows: Row[] = [];
        for (const refusal of refusals) rows.push(await rowOf(sender, refusal, tools));
        return rows;
      } finally {
        sender.close();
        await stage.stop();
      }
    }),
};
