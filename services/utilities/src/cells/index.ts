import { openThread, type Thread } from '../thread.ts';
import type { CellMethods } from './cells.thread.ts';

export type Cells = Thread<CellMethods>;

const heapMb = 96;

export const openCells = (): Cells =>
  openThread<CellMethods>(new URL('cells.thread.ts', import.meta.url), ['cellsAround'], heapMb);
