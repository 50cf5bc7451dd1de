/**
 * Who may import whom. `npm run check` judges the workspace by these rules, and proves each on the violations planted
 * in infra/tools/fixtures/boundaries.
 */
const feature = '^services/[^/]+/src/[^/]+/';
const generated = '^services/[^/]+/src/generated/';
const featureIndex = `${feature}index[.]ts$`;
const tests = '^(gateway|(services|libs|infra)/[^/]+)/test/';
const aPackage = '^(gateway|(?:services|libs|infra)/[^/]+)/';
const forTests = '^(libs/testing|infra/(kafka|fleet|k8s|tools|e2e|bench))/';
const packages = '/node_modules/';
/** What runs in the image. */
const production = '^(gateway|services/[^/]+|libs/(?!testing/|servers/)[^/]+|infra/(image|ops))/src/';

const forbidden = [
  {
    name: 'service-imports-service',
    comment: 'Services meet by contracts and events alone.',
    from: { path: '^services/([^/]+)/' },
    to: { path: '^services/', pathNot: '^services/$1/' },
  },
  {
    name: 'service-imported-past-the-registry',
    comment: 'Which services there are stands in services/registry.ts alone.',
    from: { pathNot: '^services/' },
    to: { path: '^services/[^/]+/' },
  },
  {
    name: 'service-imports-gateway-or-infra',
    comment: 'Services are built on libs/ and nothing else of ours.',
    from: { path: '^services/' },
    to: { path: '^(gateway|infra)/' },
  },
  {
    name: 'lib-imports-upwards',
    comment: 'libs/ knows only libs/.',
    from: { path: '^libs/' },
    to: { path: '^(services|gateway|infra)/' },
  },
  {
    name: 'gateway-imports-service-or-infra',
    comment: 'The gateway knows services by their contracts.',
    from: { path: '^gateway/' },
    to: { path: '^(services|infra)/' },
  },
  {
    name: 'infra-imports-more-than-libs',
    comment:
      'Only infra/local, infra/image, infra/fleet, infra/ops, infra/k8s, infra/generate, infra/e2e and infra/bench put the whole platform together; infra/image tells anybody what there is.',
    from: { path: '^infra/(?!local/|image/|fleet/|ops/|k8s/|generate/|e2e/|bench/)([^/]+)/' },
    to: { path: '^(services|gateway|infra)/', pathNot: '^infra/($1|image)/' },
  },
  {
    name: 'package-entered-by-path',
    comment: 'Another package is imported by its name, so that its exports hold.',
    from: { path: aPackage },
    to: { path: aPackage, pathNot: '^$1/', dependencyTypes: ['local'] },
  },
  { name: 'cycle', comment: 'No file imports itself by way of others.', from: {}, to: { circular: true } },
  {
    name: 'feature-entered-past-its-index',
    comment: "What a feature offers stands in its index.ts; the rest is its own, and its tests'.",
    from: { pathNot: [feature, tests] },
    to: { path: feature, pathNot: [featureIndex, generated] },
  },
  {
    name: 'feature-enters-feature-past-its-index',
    comment: 'What a feature offers stands in its index.ts; the rest is its own.',
    from: { path: '^(services/[^/]+/src/[^/]+)/' },
    to: { path: feature, pathNot: ['^$1/', featureIndex, generated] },
  },
  {
    name: 'database-client-outside-a-store',
    comment: 'Only stores, and the composition root that opens the database, touch the generated client and types.',
    from: {
      pathNot: [generated, '^services/[^/]+/src/.+[.]store[.]ts$', '^services/[^/]+/src/(store|service)[.]ts$'],
    },
    to: { path: generated },
  },
  {
    name: 'production-imports-tests',
    comment: 'What runs in production does without tests and what helps them.',
    from: { path: '^(gateway|(services|libs|infra)/[^/]+)/src/', pathNot: forTests },
    to: { path: [tests, '^libs/testing/'] },
  },
  {
    name: 'production-imports-servers',
    comment: 'The image brings no server: whoever runs it says where Postgres, Kafka and Redis are.',
    from: { path: production },
    to: { path: '^libs/servers/' },
  },
  {
    name: 'edge-reaches-database-or-broker',
    comment: 'The gateway, and what it stands on, load neither Postgres nor Kafka code, by whatever way.',
    from: { path: '^(gateway|libs/(auth|contracts|http|ids|openapi|runtime|tracing))/src/' },
    to: {
      path: ['^libs/(database|messaging|kafka|service)/', `${packages}(pg|kafkajs|prisma|@prisma/[^/]+)/`],
      reachable: true,
    },
  },
  {
    name: 'schema-engine-outside-tools',
    comment: 'Migrations are applied without the engine of Prisma; only who writes them loads its 5 MB.',
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
    comment: 'A dependency of production is not installed with the devDependencies.',
    from: { path: '^(gateway|(services|libs|infra)/[^/]+)/src/', pathNot: '^infra/(tools|e2e|bench)/' },
    to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'kafka-client-outside-its-library',
    comment: 'Only libs/kafka speaks to a broker; everybody else depends on the Transport of libs/messaging (ADR 21).',
    from: {
      path: '^(gateway|(services|libs|infra)/[^/]+)/src/',
      pathNot: '^(libs/(kafka|servers)|infra/bench)/', // The latter start a broker, and measure beside it.
    },
    to: { path: '(^|/node_modules/)kafkajs(/|$)' },
  },
  { name: 'unresolved', comment: 'What cannot be found cannot be judged.', from: {}, to: { couldNotResolve: true } },
];

const required = [
  {
    name: 'package-name-not-followed',
    comment: 'Every service runs by libs/service: shows that `@attribution/…` leads to sources, and is judged.',
    module: { path: '^services/[^/]+/src/index[.]ts$' },
    to: { path: '^libs/service/src/index[.]ts$' },
  },
];

const asErrors = (rules) => rules.map((rule) => ({ ...rule, severity: 'error' }));

export default {
  forbidden: asErrors(forbidden),
  required: asErrors(required),
  options: {
    parser: 'swc', // TypeScript 7 has no API that dependency-cruiser could use.
    doNotFollow: { path: ['/node_modules/', '/src/generated/'] },
    exclude: { path: '/fixtures/' },
    moduleSystems: ['es6'],
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
