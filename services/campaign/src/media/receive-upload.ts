import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem, receiveMediaUpload } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { implement } from '@attribution/service';
import type { AssetRow } from './asset.store.ts';
import { changeAsset, findParts, lockAssetById, putPart, readAssetById } from './asset.store.ts';
import type { MediaDependencies } from './dependencies.ts';
import { announceObject, claimObjects, doomObjects } from './object.store.ts';
import type { UploadTicket } from './tickets.ts';

/** Takes the bytes of a file, or of a part. Those that are refused leave nothing in the store. */
export const receiveUploadEndpoint = (dependencies: MediaDependencies) =>
  implement(receiveMediaUpload, async ({ query, incoming }) => {
    const { database, clock, signer, store, sweep } = dependencies;
    const ticket = signer.verify('upload', query.ticket, clock.now());
    const asset = await requireOpen(database.sql, await readAssetById(database.sql, ticket.asset), ticket);
    requireLength(incoming, ticket.bytes);

    const key = `uploads/${ticket.asset}/${randomUUID()}`;
    await announceObject(database.sql, { key, account_id: asset.account_id }, clock.now());
    let taken = false;
    try {
      const sha256 = ticket.part === null ? asset.sha256 : null;
      await store.put(key, checked(incoming, ticket.bytes, sha256), ticket.bytes);
      await take(dependencies, ticket, key);
      taken = true;
    } finally {
      if (!taken) {
        // If the database is away too, the object's row brings the sweeper here later.
        await doomObjects(database.sql, [key], clock.now()).catch(() => {});
        sweep();
      }
    }
  });

/** The asset refers to the object now. Throws if another was faster, or the upload has ended. */
async function take(dependencies: MediaDependencies, ticket: UploadTicket, key: string): Promise<void> {
  const { database, clock, sweep } = dependencies;
  const replaced = await database.sqlTransaction(async (tx) => {
    const asset = await requireOpen(tx, await lockAssetById(tx, ticket.asset), ticket);
    await claimObjects(tx, [key]);
    if (ticket.part === null) {
      await changeAsset(tx, asset.id, { upload_key: key, updated_at: clock.now() });
      return [];
    }
    const before = (await findParts(tx, asset.id)).filter((part) => part.part_number === ticket.part);
    await putPart(tx, asset.id, ticket.part, key);
    const keys = before.map((part) => part.key);
    await doomObjects(tx, keys, clock.now());
    return keys;
  });
  if (replaced.length > 0) sweep();
}

/** Throws unless the asset still takes these bytes. */
async function requireOpen(tx: Sql, asset: AssetRow | undefined, { part }: UploadTicket): Promise<AssetRow> {
  if (asset?.status !== 'awaiting_upload') throw new Problem('conflict', 'The asset awaits no upload.');
  if (asset.upload_key !== null) throw new Problem('conflict', 'The bytes of the asset are there already.');
  if (part === null && (await findParts(tx, asset.id)).length > 0)
    throw new Problem('conflict', 'Parts of the asset are there already: send the others.');
  return asset;
}

const wrongLength = (bytes: number) => new Problem('validation-error', `body: must have exactly ${bytes} bytes.`);

/** What says its length is refused before it is read. */
function requireLength({ headers }: IncomingMessage, bytes: number): void {
  const { 'content-length': length, 'content-encoding': encoding = 'identity' } = headers;
  if (encoding.toLowerCase() !== 'identity')
    throw new Problem('validation-error', 'Content-Encoding: is not supported.');
  if (length !== undefined && Number(length) !== bytes) throw wrongLength(bytes);
}

/** The bytes of a request, which fail at their end if they are not those that were promised. */
async function* checked(incoming: IncomingMessage, bytes: number, sha256: string | null): AsyncIterable<Buffer> {
  const hash = createHash('sha256');
  let read = 0;
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      read += chunk.length;
      if (read > bytes) throw wrongLength(bytes);
      hash.update(chunk);
      // The last chunk shows whether the bytes are right, so that the store has never all of wrong ones.
      if (read === bytes && sha256 !== null && hash.digest('hex') !== sha256)
        throw new Problem('validation-error', 'body: has another SHA-256 than was promised.');
      yield chunk;
    }
  } catch (error) {
    throw incoming.destroyed && !incoming.complete
      ? new Problem('validation-error', 'body: could not be read.')
      : error;
  }
  if (read !== bytes) throw wrongLength(bytes);
}
