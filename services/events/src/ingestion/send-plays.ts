import { sendPlays } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AskVersions } from '../campaigns/index.ts';
import type { AskEstate } from '../estate/index.ts';
import { playKind } from './plays.ts';
import { type Dependencies, receiveBatch } from './receive-batch.ts';
import { playsTold } from './told.ts';

export function sendPlaysEndpoint(
  dependencies: Dependencies,
  ask: { readonly estate: AskEstate; readonly versions: AskVersions },
) {
  const kind = { ...playKind(dependencies.database, ask), told: playsTold };
  return implement(sendPlays, ({ caller, body }) => receiveBatch(dependencies, kind, caller, body));
}
