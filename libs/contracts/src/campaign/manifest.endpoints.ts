import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { id } from '../wire/ids.ts';
import { Manifest } from './manifest.resources.ts';

export const getDeviceManifest = endpoint({
  operation: 'get_device_manifest',
  method: 'GET',
  path: '/internal/v2/manifests/{device_id}',
  service: 'campaign',
  summary: 'What a device plays',
  description:
    'As it is at the moment of the request. A device whose installation was removed has one without screens; a device that no installation has ever named has none.',
  access: { credential: 'internal', callers: ['device'] },
  params: z.object({ device_id: id('device') }),
  query: z.object({
    account_id: id('account').optional().meta({
      description:
        'The account that has claimed the device. From then on installations of other accounts do not count.',
    }),
  }),
  success: { status: 200, description: 'The manifest', body: Manifest },
  problems: ['not-found'],
});
