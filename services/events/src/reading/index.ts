export { createReadFigures, type ReadFigures } from './read-figures.ts';
