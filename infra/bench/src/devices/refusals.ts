import { randomBytes } from 'node:crypto';
import { newId } from '@attribution/ids';
import { makeCsr, signBody } from '@attribution/simulator';
import type { BenchDatabase } from '../database.ts';
import { type FactoryKeyKind, keyKinds, newPair, publicPem } from './factory-keys.ts';
import { fillDevices, serialOf } from './seed.ts';

/** A request of first contact, as it is sent. */
export interface Contact {
  readonly path: string;
  readonly body: string;
  readonly signature: string | undefined;
}

/** A device whose only fault is what is asked about. */
interface Machine {
  readonly serial: string;
  readonly sign: (body: string) => string;
}

const states = ['live', 'other', 'suspended', 'retired', 'closed'] as const;
type State = (typeof states)[number];

/** The same nonces are tried again and again: a failed try does not spend them. */
interface Nonces {
  readonly good: string;
  readonly expired: string;
  readonly used: string;
}

/** Makes devices of one kind of key, one in each state, and nonces of them. */
async function makeMachines(database: BenchDatabase, kind: FactoryKeyKind) {
  const accounts = { open: newId('account'), closed: newId('account') };
  const nonces = new Map<State, Nonces>();
  const made = new Map<State, Machine>();
  for (const state of states) {
    const pair = newPair(kind);
    const id = newId('device');
    const account = state === 'closed' ? accounts.closed : accounts.open;
    const device = { id, fingerprint: randomBytes(32).toString('hex') };
    await fillDevices(database, account, [device], { publicKey: publicPem(pair) });
    if (state === 'suspended')
      await database.sql(`UPDATE devices SET status = 'suspended', resumes_as = 'active' WHERE id = $1`, [id]);
    if (state === 'retired') await database.sql(`UPDATE devices SET status = 'retired' WHERE id = $1`, [id]);
    const own = { good: newNonce(), expired: newNonce(), used: newNonce() };
    await database.sql(
      `INSERT INTO device_nonces (nonce, device_id, expires_at)
       VALUES ($2, $1, now() + interval '1 h'), ($3, $1, now() - interval '1 min'), ($4, $1, now() + interval '1 h')`,
      [id, own.good, own.expired, own.used],
    );
    nonces.set(state, own);
    made.set(state, { serial: serialOf(id), sign: (body) => signBody(pair.privateKey, body) });
  }
  await database.sql('INSERT INTO closed_accounts (account_id, closed_at) VALUES ($1, now())', [accounts.closed]);
  return {
    machine: (state: State) => made.get(state) as Machine,
    nonces: (state: State) => nonces.get(state) as Nonces,
  };
}
type Machines = Awaited<ReturnType<typeof makeMachines>>;

const newNonce = () => randomBytes(32).toString('base64url');
const csr = makeCsr(newPair('p-256').privateKey, 'a device');
const fiveMinutesOff = 301_000;

/** What a request says otherwise than a good one. */
interface Fault {
  readonly state?: State;
  readonly serial?: () => string;
  /** Default: that of the device, of this very body. */
  readonly signature?: (machine: Machine) => string | undefined;
  readonly nonce?: (machines: Machines) => string;
  readonly offMs?: number;
}

const wrong = ({ sign }: Machine) => sign('another body');
const ofBoth: Readonly<Record<string, Fault>> = {
  'no signature': { signature: () => undefined },
  'an odd signature': { signature: () => 'not base64!' },
  'an unknown serial': { serial: () => `PLAYER-${randomBytes(12).toString('hex').toUpperCase()}` },
  'a suspended device': { state: 'suspended' },
  'a retired device': { state: 'retired' },
  'a closed account': { state: 'closed' },
};
const ofBootstrap: Readonly<Record<string, Fault>> = {
  'an odd nonce': { nonce: () => 'odd' },
  'an unknown nonce': { nonce: newNonce },
  'an expired nonce': { nonce: (machines) => machines.nonces('live').expired },
  'a used nonce': { nonce: (machines) => machines.nonces('live').used },
  "another device's nonce": { nonce: (machines) => machines.nonces('other').good },
  'a wrong time': { offMs: fiveMinutesOff },
};

/** A refusal beside the one that all are compared with: a wrong signature of a device that may come in. */
export interface Refusal {
  readonly what: string;
  /** The n-th of such requests: devices with each kind of key in turn. */
  readonly refused: (n: number) => Contact;
  readonly reference: (n: number) => Contact;
}

function challengeWith(machines: Machines, { state = 'live', serial, signature }: Fault): Contact {
  const machine = machines.machine(state);
  const body = JSON.stringify({ serial: serial?.() ?? machine.serial, timestamp: new Date().toISOString() });
  return { path: '/v2/device/challenges', body, signature: signature ? signature(machine) : machine.sign(body) };
}

function bootstrapWith(machines: Machines, { state = 'live', serial, signature, nonce, offMs = 0 }: Fault): Contact {
  const machine = machines.machine(state);
  const body = JSON.stringify({
    serial: serial?.() ?? machine.serial,
    nonce: nonce?.(machines) ?? machines.nonces(state).good,
    timestamp: new Date(Date.now() + offMs).toISOString(),
    csr,
  });
  return { path: '/v2/device/bootstrap', body, signature: signature ? signature(machine) : machine.sign(body) };
}

/** Makes devices, spends the nonces that are to have been used by `send`, and returns all refusals of the contract. */
export async function allRefusals(
  database: BenchDatabase,
  send: (contact: Contact) => Promise<number>,
): Promise<Refusal[]> {
  const kinds: Machines[] = [];
  for (const kind of keyKinds) {
    const machines = await makeMachines(database, kind);
    const status = await send(bootstrapWith(machines, { nonce: () => machines.nonces('live').used }));
    if (status !== 200) throw new Error(`A good bootstrap is answered ${status}`);
    kinds.push(machines);
  }
  const inTurn = (n: number) => kinds[n % kinds.length] as Machines;
  return [
    ...Object.entries(ofBoth).map(([what, fault]) => refusalOf(`Challenge, ${what}`, challengeWith, fault)),
    ...Object.entries({ ...ofBoth, ...ofBootstrap }).map(([what, fault]) =>
      refusalOf(`Bootstrap, ${what}`, bootstrapWith, fault),
    ),
  ];

  function refusalOf(what: string, make: typeof challengeWith, fault: Fault): Refusal {
    return {
      what,
      refused: (n) => make(inTurn(n), fault),
      reference: (n) => make(inTurn(n), { signature: wrong }),
    };
  }
}
