import { Problem, sendMediaFile } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { MediaDependencies } from './dependencies.ts';
import { NoSuchObject } from './store/index.ts';

/** Sends what a signed URL stands for, straight from the store. */
export const sendFileEndpoint = ({ clock, signer, store }: MediaDependencies) =>
  implement(sendMediaFile, async ({ query }) => {
    const { key, media, bytes } = signer.verify('file', query.ticket, clock.now());
    const tag = key.slice(key.lastIndexOf('/') + 1);
    return {
      ...{ media, bytes, tag },
      read: (range) =>
        store.get(key, range).catch((error: unknown) => {
          throw error instanceof NoSuchObject ? Problem.notFound() : error;
        }),
    };
  });
