import {
  counting,
  createNode,
  effectsOf,
  endAfterEach,
  expectOnceInOrder,
  kafka,
  newPrefix,
  openTestDatabase,
  pause,
  plainKafka,
  range,
  recording,
  things,
  withKafka,
} from '@attribution/messaging/testing';
import { eventually } from '@attribution/testing';
import { expect } from '@jest/globals';

const ending = endAfterEach();

async function open(partitions: number) {
  const { topic, type, number } = things(partitions);
  const database = await openTestDatabase();
  ending.push(() => database.drop());
  const prefix = newPrefix();

  /** A replica of the service, which handles and publishes events from now on. */
  async function join(before: (n: number) => void | Promise<void> = () => {}, sessionTimeout = 6_000) {
    const { transport, total } = counting(kafka(prefix, undefined, { sessionTimeout }));
    transport.declare([topic]);
    const node = createNode({ database, transport, handlers: [recording(type, 'campaign', before)] });
    await transport.start();
    ending.push(() => transport.close());
    ending.push(() => node.relay.stop(Date.now() + 2_000));
    return { ...node, transport, total };
  }

  return { database, number, join, group: `${prefix}attribution.campaign` };
}

withKafka(
  'while consumers join and leave under flow, every event takes effect once, and those of a key in order',
  async () => {
    const { database, number, join } = await open(6);
    const sent = new Map(range(12).map((k) => [`key ${k}`, 0]));
    const replica = () => join(() => pause(1));

    const first = await replica();
    first.relay.start();
    let flowing = true;
    const flow = (async () => {
      for (let n = 0; flowing; n++) {
        await first.send(...[...sent.keys()].map((key) => number(key, n)));
        for (const key of sent.keys()) sent.set(key, n + 1);
        await pause(10);
      }
    })();
    const takesPart = ({ total }: { total: () => number }) => {
      const before = total();
      return eventually(() => expect(total()).toBeGreaterThan(before + 50));
    };

    await takesPart(first);
    const second = await replica();
    await takesPart(second);
    const third = await replica();
    await takesPart(third);
    await first.transport.stopConsuming();
    const firstTook = first.total();
    await Promise.all([takesPart(second), takesPart(third)]);
    await third.transport.stopConsuming();
    const fourth = await replica();
    await takesPart(fourth);
    flowing = false;
    await flow;

    await expectOnceInOrder(database, sent);
    expect(first.total()).toBe(firstTook);
    expect((await database.pool.query('SELECT 1 FROM dead_letters')).rowCount).toBe(0);
  },
);

withKafka(
  'a handler that takes longer than the session keeps its place and does its work once, even while others join',
  async () => {
    const { database, number, join, group } = await open(2);
    let begun = 0;
    const slow = await join(async (n) => {
      if (n !== 0) return;
      begun++;
      await pause(9_000);
    });
    slow.relay.start();
    await slow.send(number('slow', 0), number('slow', 1));
    await eventually(() => expect(begun).toBe(1));
    const admin = plainKafka().admin();
    await admin.connect();
    ending.push(() => admin.disconnect());
    const members = async () => (await admin.describeGroups([group])).groups[0]?.members.map((one) => one.memberId);
    const [member] = (await members()) ?? [];
    expect(member).toBeTruthy();

    await pause(7_000); // Longer than the session, with nothing but heartbeats.
    expect(await members()).toEqual([member]);
    await join(); // Waits for the slow one, which has to give its place in the round away.
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'slow')).toEqual([0, 1]));
    await eventually(async () => expect(await members()).toHaveLength(2));
    expect(await members()).toContain(member);
    expect(begun).toBe(1);
  },
);
