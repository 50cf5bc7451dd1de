import { cameraKind } from './cameras/index.ts';
import type { Kind } from './estate/index.ts';
import { groupKind } from './groups/index.ts';
import { installationKind } from './installations/index.ts';
import { locationKind } from './locations/index.ts';
import { screenKind } from './screens/index.ts';
import { zoneKind } from './zones/index.ts';

/** Every kind, parents before children. */
export const kinds = [
  groupKind,
  locationKind,
  zoneKind,
  screenKind,
  installationKind,
  cameraKind,
] as const satisfies Kind<never>[];
