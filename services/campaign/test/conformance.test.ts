import { describeConformance } from '@attribution/testing/conformance';
import { startCampaign } from './support.ts';

describeConformance({ service: 'campaign', start: startCampaign });
