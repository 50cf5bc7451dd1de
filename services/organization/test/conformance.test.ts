import { describeConformance } from '@attribution/testing/conformance';
import { startOrganization } from './support.ts';

// Who may import depends on the groups that a caller administers.
describeConformance({ service: 'organization', start: startOrganization, judging: ['import_estate'] });
