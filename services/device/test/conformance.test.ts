import { describeConformance } from '@attribution/testing/conformance';
import { startDevice } from './support.ts';

describeConformance({ service: 'device', start: startDevice });
