import type { Implementation } from '@attribution/service';
import { addAdEndpoint } from './add-ad.ts';
import type { Dependencies } from './dependencies.ts';
import { removeAdEndpoint } from './remove-ad.ts';
import { setTargetEndpoint } from './set-target.ts';
import { updateAdEndpoint } from './update-ad.ts';
import { validateEndpoint } from './validate-draft.ts';

export const draftEndpoints = (dependencies: Dependencies): Implementation[] => [
  setTargetEndpoint(dependencies),
  addAdEndpoint(dependencies),
  updateAdEndpoint(dependencies),
  removeAdEndpoint(dependencies),
  validateEndpoint(dependencies),
];
