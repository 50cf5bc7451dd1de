import { describeProvider } from './provider-suite.ts';
import { openSimulated } from './simulated-support.ts';

// No notifications are sent, but signed ones can be read, because the secrets are configured.
describeProvider('the simulated provider', () => openSimulated({ webhookUrl: 'http://127.0.0.1:9/' }));
