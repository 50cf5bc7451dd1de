import { expect, test } from '@jest/globals';
import { configurationPage } from '../src/documents/configuration.ts';
import { eventsPage } from '../src/documents/events.ts';
import { table } from '../src/documents/markdown.ts';
import { servicesPage } from '../src/kubernetes/services-page.ts';
import { platform } from './platform.ts';

const configuration = configurationPage(platform);
const events = eventsPage(platform);

test('the page of events has every topic, and the services that handle each event', () => {
  expect(events).toContain('| `billing.events` | billing | 6 | 14 days | 3, of which 2 must have it |');
  expect(events).toContain('| `account.created` | 1 | billing |');
  expect(events).toContain('| `account.closed` | 1 | nobody |');
});

test('the page of events has every snapshot and every Internal call', () => {
  expect(events).toContain('| billing | shops | account | `known_shops` |');
  expect(events).toContain('| Billing | worker | Account |');
  expect(events).toContain('| `POST /internal/v2/token-holds` | account | Reserve tokens | billing and campaign |');
});

test('the page of settings has those of each service, with their defaults', () => {
  expect(configuration).toContain('| `RECIPE` | **required** | Its secret recipe. Secret |');
  expect(configuration).toContain('| `COLOUR` | `red` | Of its door. One of `red`, `blue` |');
  expect(configuration).toContain('| `ACCOUNT_URL` | **required** | Where Account answers, which the worker calls |');
});

test('the page of settings has those of the gateway and of every process, once', () => {
  const times = { PORT: 3, REDIS_URL: 2, TOKEN_PUBLIC_KEYS: 1, KAFKA_BROKERS: 1, DATABASE_URL: 1, LOG_LEVEL: 1 };
  for (const [name, count] of Object.entries(times))
    expect(configuration.match(new RegExp(`^\\| \`${name}\` `, 'gm'))).toHaveLength(count);
});

test('a bar in a cell is escaped', () => {
  expect(table(['a'], [['x | y']])).toBe('| a |\n|---|\n| x \\| y |');
});

test('the page of Kubernetes has the secrets of each service with their keys, and its connections', () => {
  const page = servicesPage(platform);
  expect(page).toContain('| account | `account-secrets` | `recipe`, `smtp-url` |');
  expect(page).toContain('| account | `signing-keys` | `keys.json`, mounted: `SIGNING_KEYS` |');
  expect(page).toContain("| Billing's worker | Account's api |");
  expect(page).toContain("| Account's worker | mail (port 587), outside our own networks |");
});
