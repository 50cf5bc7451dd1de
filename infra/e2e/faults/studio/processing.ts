import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { completeMediaAsset, createMediaAsset, createMediaLibrary } from '@attribution/contracts';
import { rowsOf } from '../crash/check/databases.ts';
import { compared, type Flow } from './flow.ts';

const picture = join(import.meta.dirname, '../../../local/pictures/sneakers-landscape.png');

interface Outcome {
  readonly status: string;
  readonly jobs: string;
  readonly analyses: number;
  /** Objects that nothing will delete: the content, a poster and a thumbnail. */
  readonly objects: number;
}

/** A picture that was uploaded is processed. */
export const processing: Flow = {
  name: 'processing',
  whole: 'one job, one analysis, one content with its pictures',
  steps: [
    { name: 'before the job is written', before: 'insert into jobs' },
    { name: 'after the job is written, before the commit', after: 'insert into jobs' },
    { name: 'after the job is committed', committed: 'insert into jobs' },
    { name: 'before a try begins', before: 'update jobs set status' },
    { name: 'after a try has begun', after: 'update jobs set status' },
    { name: 'before an object is announced', before: 'insert into stored_objects' },
    { name: 'after an object is announced', after: 'insert into stored_objects' },
    { name: 'before the objects are claimed', before: 'update stored_objects set doomed_at' },
    { name: 'before the analysis is written', before: 'insert into analyses' },
    { name: 'after the analysis is written, before the commit', after: 'insert into analyses' },
    { name: 'after the analysis is committed', committed: 'insert into analyses' },
  ],
  async prepare({ member, databases, newOwner }) {
    const { account, owner } = await newOwner();
    const media_library_id = (await owner.call(createMediaLibrary, { body: { name: 'Spring' } })).body.id;
    const bytes = await readFile(picture);
    const promised = { media_library_id, filename: 'sneakers.png', size_bytes: bytes.length };
    const { id, upload_url } = (await owner.call(createMediaAsset, { body: promised })).body;
    const { pathname, search } = new URL(upload_url);
    const sent = await fetch(member.url + pathname + search, { method: 'PUT', body: new Uint8Array(bytes) });
    if (sent.status !== 204) throw new Error(`The upload was answered ${sent.status}: ${await sent.text()}`);
    const headers = { 'idempotency-key': randomUUID() };
    return {
      async ask() {
        return (await owner.call(completeMediaAsset, { params: { id }, body: {}, headers })).status < 300;
      },
      async look() {
        const [found] = await rowsOf<Outcome>(
          databases.campaign ?? '',
          `SELECT status,
             (SELECT string_agg(status::text, ' ') FROM jobs WHERE subject_id = '${id}') AS jobs,
             (SELECT count(*)::int FROM analyses WHERE media_asset_id = '${id}') AS analyses,
             (SELECT count(*)::int FROM stored_objects WHERE account_id = '${account}' AND doomed_at IS NULL) AS objects
           FROM media_assets WHERE id = '${id}'`,
        );
        const isOver = found !== undefined && /^(succeeded|failed)/.test(found.jobs ?? '');
        return compared(isOver, { ...found }, { status: 'ready', jobs: 'succeeded', analyses: 1, objects: 3 });
      },
    };
  },
};
