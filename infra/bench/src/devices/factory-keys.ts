import { generateKeyPairSync, type KeyObject } from 'node:crypto';

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}
export const keyKinds = ['rsa', 'p-256', 'ed25519'] as const;
export type FactoryKeyKind = (typeof keyKinds)[number];

const makers: Readonly<Record<FactoryKeyKind, () => Pair>> = {
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  'p-256': () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  ed25519: () => generateKeyPairSync('ed25519'),
};

/** A pair of keys as factories make them. */
export const newPair = (kind: FactoryKeyKind): Pair => makers[kind]();

export const publicPem = ({ publicKey }: Pair) => publicKey.export({ type: 'spki', format: 'pem' }).toString();
