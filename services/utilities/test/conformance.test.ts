import { describeConformance } from '@attribution/testing/conformance';
import { startUtilities } from './support.ts';

/** The conformance tests send no query, which every look-up needs. */
const operations = ['geocode', 'reverse_geocode', 'timezone', 'coverage', 'weather', 'context'];
const answers = Object.fromEntries(operations.map((operation) => [operation, 400]));

describeConformance({ service: 'utilities', start: startUtilities, answers });
