import { checkCodes } from '@attribution/contracts';
import { describe, expect, test } from '@jest/globals';
import type { AdFacts, AssetFacts, CampaignFacts, ScreenKindFacts } from '../src/validation/facts.ts';
import { firstError } from '../src/validation/report.ts';
import { validate } from '../src/validation/validate.ts';
import { clip, stillImage } from './support-studio.ts';

const now = new Date('2026-11-23T12:00:00Z');

const image: AssetFacts = { kind: 'image', ...stillImage };
const video: AssetFacts = { kind: 'video', ...clip };
const kind: ScreenKindFacts = {
  ...{ width_px: 1920, height_px: 1080, accepted_formats: ['image/png', 'video/mp4'], audio: false },
  ...{ screen_count: 3, not_installed: 0, inactive: 0 },
};
const ad: AdFacts = {
  ...{ id: 'cad_1', screen_tag: 'entrance', score: 70, duration_ms: 10_000, fit: 'contain', muted: false },
  ...{ asset: image, decoding: { decode: 'complete', decoded_frames: 1 }, reaches: true, kinds: [kind] },
};
const campaign: CampaignFacts = {
  ...{ end_date: null, ads: [ad], campaign_score: 70, matched_screens: 3, matched_locations: 1 },
  ...{ timezones: ['Europe/Zurich'], out_of_reach: false },
};

/** The checks of an ad with these differences, without what stands in every check. */
function checksOf(change: Partial<AdFacts>) {
  const [report] = validate({ ...campaign, ads: [{ ...ad, ...change }] }, now).ads;
  return report?.checks.map(({ detail: _, ...check }) => check);
}
const onKind = (change: Partial<ScreenKindFacts>) => ({ kinds: [{ ...kind, ...change }] });
const withAsset = (change: Partial<AssetFacts>, of = video) => ({ asset: { ...of, ...change } });
const warning = (code: string, more: object = {}) => ({ code, severity: 'warning', ...more });
const error = (code: string, more: object = {}) => ({ code, severity: 'error', ...more });

test('an ad without a fault has no check, and a campaign of such ads is ok', () => {
  const report = validate(campaign, now);
  expect(report).toMatchObject({ status: 'ok', error_count: 0, warning_count: 0, gates_publish: false, checks: [] });
  expect(report.ads).toEqual([
    {
      ...{ campaign_ad_id: 'cad_1', status: 'ok', score: 70, screen_count: 3, checks: [] },
      screen_kinds: [
        {
          ...{ width_px: 1920, height_px: 1080, accepted_formats: ['image/png', 'video/mp4'], audio: false },
          ...{ screen_count: 3, status: 'ok' },
        },
      ],
    },
  ]);
});

/** For each code, what makes it, what is just not enough, and what it says. */
const ofAds: readonly [string, Partial<AdFacts>, Partial<AdFacts> | undefined, object][] = [
  ['no_screen', { reaches: false, kinds: [] }, { reaches: true, kinds: [] }, warning('no_screen')],
  [
    'undecodable',
    { decoding: { decode: 'complete', decoded_frames: 0 } },
    { decoding: { decode: 'sampled', decoded_frames: 1 } },
    error('undecodable'),
  ],
  [
    'decode_unverified',
    { decoding: { decode: 'none', decoded_frames: 0 } },
    { decoding: null },
    warning('decode_unverified'),
  ],
  ['codec', withAsset({ codec: 'mpeg4' }), withAsset({}), error('codec')],
  ['codec of another container', withAsset({ codec: 'vp9' }), withAsset({}), error('codec')],
  ['codec by chroma', withAsset({ chroma: '4:4:4' }), withAsset({ chroma: null }), error('codec')],
  [
    'codec of a picture',
    withAsset({ bit_depth: 10 }),
    withAsset({ chroma: '4:4:4' }, image),
    error('codec', { measured: 10, limit: 8 }),
  ],
  ['codec_support', withAsset({ codec: 'hevc', bit_depth: 10 }), undefined, warning('codec_support')],
  [
    'duration',
    { ...withAsset({ duration_ms: 9_899 }) },
    { ...withAsset({ duration_ms: 9_900 }) },
    error('duration', { measured: 10_000, limit: 9_899 }),
  ],
  [
    'duration_unusual, short',
    { duration_ms: 4_999 },
    { duration_ms: 5_000 },
    warning('duration_unusual', { measured: 4_999, limit: 5_000 }),
  ],
  [
    'duration_unusual, long',
    { duration_ms: 60_001 },
    { duration_ms: 60_000 },
    warning('duration_unusual', { measured: 60_001, limit: 60_000 }),
  ],
  ['rotation', withAsset({ rotation: 90 }), undefined, warning('rotation', { measured: 90, limit: 0 })],
  ['variable_frame_rate', withAsset({ variable_frame_rate: true }), undefined, warning('variable_frame_rate')],
  ['colour_profile', withAsset({ colour: 'display-p3' }), withAsset({ colour: null }), warning('colour_profile')],
  ['colour_profile, HDR', withAsset({ hdr: true }), withAsset({ colour: 'bt601' }), warning('colour_profile')],
  ['not_scored', { score: null }, { score: 0 }, warning('not_scored')],
];

const small = { width: 960, height: 540 };
/** Screens whose shape differs by this share from that of the asset. */
const narrower = (share: number) => onKind({ width_px: 1600, height_px: 900 / (1 - share) });
const ofKinds: readonly [string, Partial<AdFacts>, Partial<AdFacts> | undefined, object][] = [
  ['format', onKind({ accepted_formats: ['video/mp4'] }), undefined, error('format')],
  ['aspect_ratio', narrower(0.2501), undefined, error('aspect_ratio', { measured: 0.2501, limit: 0.25 })],
  ['letterbox', narrower(0.25), narrower(0.1), warning('letterbox', { measured: 0.25, limit: 0.1 })],
  [
    'crop',
    { fit: 'cover', ...narrower(0.1001) },
    { fit: 'cover', ...narrower(0.1) },
    warning('crop', { measured: 0.1001, limit: 0.1 }),
  ],
  [
    'distortion',
    { fit: 'stretch', ...onKind({ width_px: 1536 }) },
    undefined,
    warning('distortion', { measured: 0.2, limit: 0.1 }),
  ],
  [
    'upscaled',
    withAsset(small, image),
    withAsset({ width: 3840, height: 2160 }, image),
    warning('upscaled', { measured: 2, limit: 1 }),
  ],
  [
    'audio_on_silent_screen',
    withAsset({ audio: true }),
    { muted: true, ...withAsset({ audio: true }) },
    warning('audio_on_silent_screen'),
  ],
  [
    'audio_on_silent_screen, not with sound',
    withAsset({ audio: true }),
    { ...onKind({ audio: true }), ...withAsset({ audio: true }) },
    warning('audio_on_silent_screen'),
  ],
  ['not_installed', onKind({ not_installed: 1 }), undefined, warning('not_installed')],
  ['location_inactive', onKind({ inactive: 3 }), undefined, warning('location_inactive')],
];

describe('checks of an ad', () => {
  test.each(ofAds)('%s', (_name, faulty, sound, check) => {
    expect(checksOf(faulty)).toEqual([check]);
    if (sound) expect(checksOf(sound)).toEqual([]);
  });
});

describe('checks of an ad on a kind of screen', () => {
  test.each(ofKinds)('%s', (_name, faulty, sound, check) => {
    expect(checksOf(faulty)).toEqual([{ ...check, screen_kind: 0 }]);
    if (sound) expect(checksOf(sound)).toEqual([]);
  });

  test('what enlarges it depends on the fit: the smaller factor, the larger one, or the larger one', () => {
    const portrait = { ...onKind({ width_px: 1080, height_px: 1200 }), asset: { ...image, width: 1000, height: 1200 } };
    const measured = (fit: AdFacts['fit']) =>
      checksOf({ ...portrait, fit })?.find(({ code }) => code === 'upscaled')?.measured;
    expect([measured('contain'), measured('cover'), measured('stretch')]).toEqual([undefined, 1.08, 1.08]);
  });
});

describe('checks of a campaign', () => {
  const codes = (change: Partial<CampaignFacts>) =>
    validate({ ...campaign, ...change }, now).checks.map(({ code, severity }) => [code, severity]);
  const unreached = { ...ad, reaches: false, kinds: [] };

  test.each<[string, Partial<CampaignFacts>, Partial<CampaignFacts>, string]>([
    ['no_ads', { ads: [] }, {}, 'error'],
    ['no_placement', { ads: [unreached, unreached] }, { ads: [unreached, ad] }, 'error'],
    ['ended', { end_date: '2026-11-22' }, { end_date: '2026-11-23' }, 'warning'],
    ['target_out_of_reach', { out_of_reach: true }, {}, 'warning'],
  ])('%s', (code, faulty, sound, severity) => {
    expect(codes(faulty)).toEqual([[code, severity]]);
    expect(codes(sound)).toEqual([]);
  });

  test('a day is over only when it is over in every reached location', () => {
    const timezones = ['Pacific/Kiritimati', 'Europe/Zurich', 'Pacific/Honolulu'];
    expect(codes({ end_date: '2026-11-23', timezones: timezones.slice(0, 1) })).toEqual([['ended', 'warning']]);
    expect(codes({ end_date: '2026-11-23', timezones })).toEqual([]);
    expect(codes({ end_date: '2020-01-01', timezones: [] })).toEqual([]);
  });
});

test('every code has a case', () => {
  const named = [...ofAds, ...ofKinds].map(([name]) => name.split(/[ ,]/)[0]);
  const ofCampaign = ['no_ads', 'no_placement', 'ended', 'target_out_of_reach'];
  expect([...new Set([...ofCampaign, ...named])]).toEqual([...checkCodes]);
});

test('kinds and checks come in one order, whatever the order of the facts; the first error is of the first ad and code', () => {
  const kinds = [
    { ...kind, width_px: 1080, height_px: 1920, screen_count: 2 },
    { ...kind, accepted_formats: ['video/mp4'] },
    { ...kind, width_px: 1080, height_px: 1920, accepted_formats: ['video/mp4'] },
    kind,
  ];
  const reports = [kinds, kinds.toReversed()].map((some) =>
    validate(
      {
        ...campaign,
        ads: [
          { ...ad, id: 'cad_0', score: null },
          { ...ad, kinds: some, score: null },
        ],
      },
      now,
    ),
  );
  expect(reports[0]).toEqual(reports[1]);
  expect(reports[0]).toMatchObject({ status: 'error', error_count: 4, warning_count: 2, gates_publish: true });
  const [, second] = reports[0]?.ads ?? [];
  expect(second?.screen_kinds.map(({ width_px, screen_count, status }) => [width_px, screen_count, status])).toEqual([
    [1080, 2, 'error'],
    [1080, 3, 'error'],
    [1920, 3, 'ok'],
    [1920, 3, 'error'],
  ]);
  expect(second?.checks.map(({ code, screen_kind }) => [code, screen_kind])).toEqual([
    ['not_scored', undefined],
    ['format', 1],
    ['format', 3],
    ['aspect_ratio', 0],
    ['aspect_ratio', 1],
  ]);
  expect(firstError(reports[0] as never)).toMatch(/^format of cad_1: /);
});
