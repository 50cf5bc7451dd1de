import { deleteAdProfile, getAdProfile, Problem, replaceAdProfile } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { implement, implementWrite } from '@attribution/service';
import { findAd, lockAd } from './ad.store.ts';
import { viewProfile } from './ad.view.ts';
import type { Dependencies } from './dependencies.ts';
import { deleteProfile, findProfile, putProfile } from './profile.store.ts';

export const getProfileEndpoint = ({ database: { sql } }: Dependencies) =>
  implement(getAdProfile, async ({ params, caller }) => {
    const ad = await findAd(sql, caller, params.id);
    const profile = ad && (await findProfile(sql, ad.id));
    if (!profile) throw Problem.notFound();
    return viewProfile(profile);
  });

export const replaceProfileEndpoint = ({ database, clock }: Dependencies) =>
  implementWrite(replaceAdProfile, database.sqlTransaction, async ({ params, body, caller, transaction }) =>
    transaction(async (tx) => {
      const ad = await lockAd(tx, caller, params.id, 'use');
      if (!ad) throw Problem.notFound();
      return viewProfile(await putProfile(tx, newId('ad_profile'), ad.id, body, clock.now()));
    }),
  );

export const deleteProfileEndpoint = ({ database }: Dependencies) =>
  implementWrite(deleteAdProfile, database.sqlTransaction, async ({ params, caller, transaction }) =>
    transaction(async (tx) => {
      const ad = await lockAd(tx, caller, params.id, 'use');
      if (!ad || !(await deleteProfile(tx, ad.id))) throw Problem.notFound();
    }),
  );
