import type { Tx } from '../store.ts';

/** Whether Organization has told of the group, in this account. */
export async function isKnownGroup(tx: Pick<Tx, 'knownGroup'>, accountId: string, id: string): Promise<boolean> {
  return (await tx.knownGroup.findFirst({ where: { id, account_id: accountId } })) !== null;
}

export async function insertKnownGroup(tx: Tx, accountId: string, id: string): Promise<void> {
  await tx.knownGroup.upsert({ where: { id }, create: { id, account_id: accountId }, update: {} });
}

export async function deleteKnownGroup(tx: Tx, id: string): Promise<void> {
  await tx.knownGroup.deleteMany({ where: { id } });
}
