import { groups } from '../faults/experiments/index.ts';
import { testExperiments } from './faults.ts';

testExperiments(groups.calendar);
