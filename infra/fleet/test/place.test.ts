import { expect, test } from '@jest/globals';
import { ownServices } from '../src/compose-file.ts';
import { listeningPorts, placed, spokenOf } from '../src/place.ts';
import { compose } from './support.ts';

const service = (environment: Record<string, string>) => ({
  image: 'attribution-platform',
  command: [],
  environment,
  ports: [],
  volumes: [],
  depends_on: {},
});
const addresses = new Map([
  ['postgres:5432', '127.0.0.1:2001'],
  ['api:80', '127.0.0.1:2002'],
]);
const place = { addresses, folders: new Map([['/var/lib/x', '/here/x']]), ports: new Map([[8080, 2003]]) };

test('addresses of the network become addresses of this machine, and nothing else does', () => {
  const environment = {
    DATABASE_URL: 'postgresql://api:80x@postgres:5432/postgres',
    URL: 'http://api:80/x',
    OTHER: 'http://api:8080, http://an-api:80, http://my.api:80',
    WORDS: 'api 80',
  };
  expect(placed(service(environment), place)).toEqual({
    ...environment,
    DATABASE_URL: 'postgresql://api:80x@127.0.0.1:2001/postgres',
    URL: 'http://127.0.0.1:2002/x',
  });
});

test('it listens on this machine alone, on its own port, and its files are here', () => {
  const environment = { HOST: '0.0.0.0', PORT: '8080', ADMIN_PORT: '9464', FILE: '/var/lib/x/y', LIKE: '/var/lib/xyz' };
  expect(placed(service(environment), place)).toEqual({
    HOST: '127.0.0.1',
    PORT: '2003',
    ADMIN_PORT: '9464',
    FILE: '/here/x/y',
    LIKE: '/var/lib/xyz',
  });
});

test('what has no address to listen on gets none', () => {
  expect(placed(service({ SERVICE: 'account', ROLE: 'migrate' }), place)).toEqual({
    SERVICE: 'account',
    ROLE: 'migrate',
  });
});

test('of the Compose file: whom somebody speaks to has a port that it listens on', () => {
  const own = ownServices(compose);
  const spoken = [...spokenOf(own)];
  expect(spoken.toSorted()).toEqual([
    'account-api:8080',
    'billing-api:8080',
    'campaign-api:8080',
    'organization-api:8080',
  ]);
  const published = [...own].flatMap(([name, { ports }]) => ports.map(({ target }) => `${name}:${target}`));
  for (const address of [...spoken, ...published]) {
    const [name = '', port] = address.split(':');
    const there = own.get(name);
    expect(there && listeningPorts(there)).toContain(Number(port));
  }
});
