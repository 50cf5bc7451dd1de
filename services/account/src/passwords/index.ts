export { createHasher, type Hasher } from './hasher.ts';
export { refusePassword } from './password.ts';
