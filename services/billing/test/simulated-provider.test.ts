import { describeProvider } from './provider-suite.ts';
import { openSimulated } from './simulated-support.ts';

// Nothing is sent, but what is signed is read: the secrets are there.
describeProvider('the simulated provider', () => openSimulated({ webhookUrl: 'http://127.0.0.1:9/' }));
