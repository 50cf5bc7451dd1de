import type { SmugglingCase } from './case.ts';
import { chunks } from './chunks.ts';
import { connections } from './connections.ts';
import { heads } from './heads.ts';
import { lengths } from './lengths.ts';
import { lines } from './lines.ts';

export const smugglingCases: readonly SmugglingCase[] = [...lengths, ...chunks, ...lines, ...heads, ...connections];
