/**
 * Which module may import which. `npm run check` checks the workspace by these rules, and each rule on the violations
 * planted in infra/tools/fixtures/boundaries.
 */
const feature = '^services/[^/]+/src/[^/]+/';
const generated = '^services/[^/]+/src/generated/';
const featureIndex = `${feature}index[.]ts$`;
const tests = '^(gateway|(services|libs|infra)/[^/]+)/test/';
const aPackage = '^(gateway|(?:services|libs|infra)/[^/]+)/';
const forTests = '^(libs/testing|infra/(kafka|fleet|k8s|tools|e2e|bench))/';
const packages = '/node_modules/';
/** The code that runs in the image. */
const production = '^(gateway|services/[^/]+|libs/(?!testing/|servers/)[^/]+|infra/(image|ops))/src/';

const forbidden = [
  {
    name: 'service-imports-service',
    comment: 'Services communicate only by contracts and events.',
    from: { path: '^services/([^/]+)/' },
    to: { path: '^services/', pathNot: '^services/$1/' },
  },
  {
    name: 'service-imported-past-the-registry',
    comment: 'services/registry.ts is the only list of services.',
    from: { pathNot: '^services/' },
    to: { path: '^services/[^/]+/' },
  },
  {
    name: 'service-imports-gateway-or-infra',
    comment: 'Of our own code, services use only libs/.',
    from: { path: '^services/' },
    to: { path: '^(gateway|infra)/' },
  },
  {
    name: 'lib-imports-upwards',
    comment: 'Of our own code, libs/ uses only libs/.',
    from: { path: '^libs/' },
    to: { path: '^(services|gateway|infra)/' },
  },
  {
    name: 'gateway-imports-service-or-infra',
    comment: 'The gateway knows services only by their contracts.',
    from: { path: '^gateway/' },
    to: { path: '^(services|infra)/' },
  },
  {
    name: 'infra-imports-more-than-libs',
    comment:
      'Only infra/local, infra/image, infra/fleet, infra/ops, infra/k8s, infra/generate, infra/e2e and infra/bench assemble the whole platform. Everything in infra/ may import infra/image, to list the programs.',
    from: { path: '^infra/(?!local/|image/|fleet/|ops/|k8s/|generate/|e2e/|bench/)([^/]+)/' },
    to: { path: '^(services|gateway|infra)/', pathNot: '^infra/($1|image)/' },
  },
  {
    name: 'package-entered-by-path',
    comment: 'Import another package by its name, so that only its exports are used.',
    from: { path: aPackage },
    to: { path: aPackage, pathNot: '^$1/', dependencyTypes: ['local'] },
  },
  { name: 'cycle', comment: 'No file imports itself by way of others.', from: {}, to: { circular: true } },
  {
    name: 'feature-entered-past-its-index',
    comment: 'A feature is used through its index.ts; the rest is private to it and to its tests.',
    from: { pathNot: [feature, tests] },
    to: { path: feature, pathNot: [featureIndex, generated] },
  },
  {
    name: 'feature-enters-feature-past-its-index',
    comment: 'A feature is used through its index.ts; the rest is private to it.',
    from: { path: '^(services/[^/]+/src/[^/]+)/' },
    to: { path: feature, pathNot: ['^$1/', featureIndex, generated] },
  },
  {
    name: 'database-client-outside-a-store',
    comment: 'Only stores, and the module that opens the database, use the generated client and types.',
    from: {
      pathNot: [generated, '^services/[^/]+/src/.+[.]store[.]ts$', '^services/[^/]+/src/(store|service)[.]ts$'],
    },
    to: { path: generated },
  },
  {
    name: 'production-imports-tests',
    comment: 'Production code does not import tests or their helpers.',
    from: { path: '^(gateway|(services|libs|infra)/[^/]+)/src/', pathNot: forTests },
    to: { path: [tests, '^libs/testing/'] },
  },
  {
    name: 'production-imports-servers',
    comment: 'The image contains no servers: its settings say where Postgres, Kafka and Redis are.',
    from: { path: production },
    to: { path: '^libs/servers/' },
  },
  {
    name: 'edge-reaches-database-or-broker',
    comment: 'The gateway and the libraries that it uses load neither Postgres nor Kafka code, directly or indirectly.',
    from: { path: '^(gateway|libs/(auth|contracts|http|ids|openapi|runtime|tracing))/src/' },
    to: {
      path: ['^libs/(database|messaging|kafka|service)/', `${packages}(pg|kafkajs|prisma|@prisma/[^/]+)/`],
      reachable: true,
    },
  },
  {
    name: 'schema-engine-outside-tools',
    comment: "Migrations are applied without Prisma's schema engine of 5 MB; only the tool that writes them loads it.",
    from: { pathNot: '^infra/tools/' },
    to: { path: `${packages}@prisma/schema-engine-wasm/`, reachable: true },
  },
  {
    name: 'contracts-need-more-than-zod',
    comment: 'The contracts and their client run in a browser: no module of Node, no package but zod.',
    from: { path: '^libs/contracts/src/' },
    to: { pathNot: ['^libs/contracts/src/', `${packages}zod/`] },
  },
  {
    name: 'production-imports-dev-dependency',
    comment: 'Production installs no devDependencies, so production code cannot import them.',
    from: { path: '^(gateway|(services|libs|infra)/[^/]+)/src/', pathNot: '^infra/(tools|e2e|bench)/' },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'kafka-client-outside-its-library',
    comment: 'Only libs/kafka uses kafkajs; all other code uses the Transport of libs/messaging (ADR 21).',
    from: {
      path: '^(gateway|(services|libs|infra)/[^/]+)/src/',
      pathNot: '^(libs/(kafka|servers)|infra/bench)/', // libs/servers starts a broker, infra/bench measures kafkajs.
    },
    to: { path: '(^|/node_modules/)kafkajs(/|$)' },
  },
  {
    name: 'unresolved',
    comment: 'An import that cannot be resolved cannot be checked.',
    from: {},
    to: { couldNotResolve: true },
  },
];

const required = [
  {
    name: 'package-name-not-followed',
    comment:
      'Every service imports libs/service. If this is not found, `@attribution/…` is not resolved and the rules check nothing.',
    module: { path: '^services/[^/]+/src/index[.]ts$' },
    to: { path: '^libs/service/src/index[.]ts$' },
  },
];

const asErrors = (rules) => rules.map((rule) => ({ ...rule, severity: 'error' }));

export default {
  forbidden: asErrors(forbidden),
  required: asErrors(required),
  options: {
    parser: 'swc', // TypeScript 7 has no API for dependency-cruiser.
    doNotFollow: { path: ['/node_modules/', '/src/generated/'] },
    exclude: { path: '/fixtures/' },
    moduleSystems: ['es6'],
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
