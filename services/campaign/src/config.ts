import { setting } from '@attribution/runtime';
import { z } from 'zod';

/** The settings of campaign, in addition to those that every service has. */
export const campaignSettings = z.object({
  PUBLIC_URL: z.url().default('http://localhost:8080').meta({
    description: 'The address of the gateway as clients know it; the URLs of uploads and files begin with it',
  }),
  MEDIA_URL_SECRET: z.string().min(32, 'must have at least 32 characters').meta({
    description: 'Signs the URLs of uploads and files; a new one makes those that are out invalid',
    secret: true,
    example: 'thirty-two-or-more-random-letters-and-digits',
  }),
  MEDIA_DIR: z.string().optional().meta({
    description: 'The folder of media files, which all replicas share; given unless `MEDIA_S3_BUCKET` is',
  }),
  MEDIA_S3_BUCKET: z.string().optional().meta({ description: 'The bucket of media files, at an S3-compatible store' }),
  MEDIA_S3_ENDPOINT: z.url().optional().meta({ description: 'The address of that store; without it, that of AWS' }),
  MEDIA_S3_REGION: z.string().default('us-east-1').meta({ description: 'The region of the bucket' }),
  MEDIA_S3_ACCESS_KEY_ID: z.string().optional().meta({
    description: 'Who it is at that store; without it, what the environment of AWS says',
    secret: true,
    example: 'AKIDEXAMPLE',
  }),
  MEDIA_S3_SECRET_ACCESS_KEY: z.string().optional().meta({
    description: 'See `MEDIA_S3_ACCESS_KEY_ID`',
    secret: true,
    example: 'wJalrXUtnFEMI-EXAMPLEKEY',
  }),
  MEDIA_FFMPEG: z.string().default('ffmpeg').meta({
    description: 'The program that decodes videos; where there is none, they have no look and no poster',
  }),
  MEDIA_WORK_DIR: z.string().optional().meta({
    description:
      'The folder in which a worker keeps files while it processes them, up to 2.1 GiB each; without it, that of the system for temporary files',
  }),
  SCORER_URL: z.url().optional().meta({
    description: 'A server that scores ads, together with `SCORER_MODEL`; without it rules of thumb do',
  }),
  SCORER_MODEL: z.string().min(1).max(100).optional().meta({
    description: 'The name and version of what scores there: another one makes all campaigns worth scoring again',
  }),
  MEDIA_JOBS: setting.count.default(1).meta({ description: 'How many media files a worker processes at a time' }),
});

export type CampaignConfig = z.output<typeof campaignSettings>;

/** Throws unless the settings name one store, its key with the secret or none, and a scorer with its model or none. */
export function checkCampaignConfig(config: CampaignConfig): void {
  const { MEDIA_DIR, MEDIA_S3_BUCKET, SCORER_URL, SCORER_MODEL } = config;
  const { MEDIA_S3_ACCESS_KEY_ID: key, MEDIA_S3_SECRET_ACCESS_KEY: secret } = config;
  if ((MEDIA_DIR === undefined) === (MEDIA_S3_BUCKET === undefined))
    throw new Error('MEDIA_DIR, MEDIA_S3_BUCKET: one of them is given');
  if ((key === undefined) !== (secret === undefined))
    throw new Error('MEDIA_S3_ACCESS_KEY_ID, MEDIA_S3_SECRET_ACCESS_KEY: both are given, or none');
  if ((SCORER_URL === undefined) !== (SCORER_MODEL === undefined))
    throw new Error('SCORER_URL, SCORER_MODEL: both are given, or none');
}
