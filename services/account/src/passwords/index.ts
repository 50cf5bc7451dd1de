export { observeHashes } from './hash-metrics.ts';
export { createHasher, type Hasher } from './hasher.ts';
export { partiesOf } from './parties.ts';
export { refusePassword } from './password.ts';
