import { expect, test } from '@jest/globals';
import { ownServices } from '../src/compose-file.ts';
import { addressesIn, listeningPorts, localEnvironment } from '../src/local-environment.ts';
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
const mapping = { addresses, folders: new Map([['/var/lib/x', '/here/x']]), ports: new Map([[8080, 2003]]) };

test("addresses of the containers' network are replaced, and nothing else is", () => {
  const environment = {
    DATABASE_URL: 'postgresql://api:80x@postgres:5432/postgres',
    URL: 'http://api:80/x',
    OTHER: 'http://api:8080, http://an-api:80, http://my.api:80',
    WORDS: 'api 80',
  };
  expect(localEnvironment(service(environment), mapping)).toEqual({
    ...environment,
    DATABASE_URL: 'postgresql://api:80x@127.0.0.1:2001/postgres',
    URL: 'http://127.0.0.1:2002/x',
  });
});

test('a process listens on the loopback address and its own port, and its folders are replaced', () => {
  const environment = { HOST: '0.0.0.0', PORT: '8080', ADMIN_PORT: '9464', FILE: '/var/lib/x/y', LIKE: '/var/lib/xyz' };
  expect(localEnvironment(service(environment), mapping)).toEqual({
    HOST: '127.0.0.1',
    PORT: '2003',
    ADMIN_PORT: '9464',
    FILE: '/here/x/y',
    LIKE: '/var/lib/xyz',
  });
});

test('a process that does not listen gets no address', () => {
  expect(localEnvironment(service({ SERVICE: 'account', ROLE: 'migrate' }), mapping)).toEqual({
    SERVICE: 'account',
    ROLE: 'migrate',
  });
});

test('in the Compose file, a process listens at every address that another one uses', () => {
  const own = ownServices(compose);
  const used = [...addressesIn(own)];
  expect(used.toSorted()).toEqual([
    'account-api:8080',
    'billing-api:8080',
    'campaign-api:8080',
    'device-api:8080',
    'events-api:8080',
    'organization-api:8080',
    'utilities-api:8080',
  ]);
  const published = [...own].flatMap(([name, { ports }]) => ports.map(({ target }) => `${name}:${target}`));
  for (const address of [...used, ...published]) {
    const [name = '', port] = address.split(':');
    const target = own.get(name);
    expect(target && listeningPorts(target)).toContain(Number(port));
  }
});
