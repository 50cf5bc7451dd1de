import { describeConformance } from '@attribution/testing/conformance';
import { startEvents } from './support.ts';

// Quarantine is for callers who are not narrowed to groups.
describeConformance({ service: 'events', start: startEvents, judging: ['list_quarantine'] });
