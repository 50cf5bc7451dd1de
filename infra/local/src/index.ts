export { seedDemo } from './demo.ts';
export { issueToIngress } from './ingress-certificate.ts';
export { FolderInUse, lockFolder } from './lock.ts';
export { startPlatform } from './platform.ts';
export { portProblem } from './ports.ts';
export { newSecrets } from './secrets.ts';
