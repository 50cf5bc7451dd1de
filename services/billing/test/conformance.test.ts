import { describeConformance } from '@attribution/testing/conformance';
import { startMoney } from './support-money.ts';

// There is no subscription.
describeConformance({ service: 'billing', start: startMoney, answers: { resume_subscription: 404 } });
