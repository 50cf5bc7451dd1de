import { z } from 'zod';

/** The id prefix of each kind of resource (spec §2.1). An id is `<prefix>_<UUIDv7>`, opaque to clients. */
export const idPrefixes = {
  account: 'acc',
  user: 'usr',
  invitation: 'inv',
  api_key: 'key',
  plan: 'pln',
  ledger_entry: 'led',
  token_hold: 'hld',
  job: 'job',
  refresh_token: 'rt',
  group: 'grp',
  location: 'loc',
  zone: 'zon',
  screen: 'scr',
  installation: 'ins',
  ad: 'ad',
  ad_profile: 'apf',
  score: 'sco',
  ad_library: 'asl',
  media_library: 'mlb',
  media_asset: 'mda',
  analysis: 'anl',
  campaign: 'cmp',
  campaign_ad: 'cad',
  device: 'dev',
  camera: 'cam',
  blacklist_entry: 'bl',
  payment: 'pay',
  refund: 'ref',
  checkout_session: 'cs',
} as const;

export type IdKind = keyof typeof idPrefixes;

const uuidV7 = '[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}';

/** The schema of one kind of id. */
export function id(kind: IdKind) {
  const prefix = idPrefixes[kind];
  const name = kind.replaceAll('_', ' ');
  const article = /^[aeio]/.test(name) ? 'an' : 'a';
  return z
    .string()
    .regex(new RegExp(`^${prefix}_${uuidV7}$`), `must be ${article} ${name} id (${prefix}_…)`)
    .meta({
      description: `Id of ${name}`,
      example: `${prefix}_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f`,
    });
}

const anyId = new RegExp(`^[a-z]{2,3}_${uuidV7}$`);

/** Whether a text has the shape of an id of any kind. */
export const looksLikeId = (text: string) => anyId.test(text);
