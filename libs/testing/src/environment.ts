/** Servers that are still being fetched or built while the first turn of files runs. A test that needs one must run later, or it would be skipped. */
const later = new Set(process.env.TEST_SERVERS_LATER?.split(','));

/** The real servers of this test run, as `npm test` found them. */
function given(name: string): string | undefined {
  if (later.has(name)) {
    throw new Error(`${name} comes after the first turn of tests: name this file in infra/tools/src/jest/turns.ts`);
  }
  return process.env[name] || undefined;
}

function required(name: string): string {
  const value = given(name);
  if (!value) throw new Error(`${name} is not set: run the tests by \`npm test\`, which starts their servers`);
  return value;
}

export const testServers = {
  /** URL of Postgres's maintenance database, as a user who may create databases. */
  postgresUrl: () => required('TEST_POSTGRES_URL'),
  redisUrl: () => given('TEST_REDIS_URL'),
  kafkaBrokers: () => given('TEST_KAFKA_BROKERS')?.split(','),
  /** The directory of a Python environment with Schemathesis. */
  schemathesis: () => given('TEST_SCHEMATHESIS'),
  /** The URL for commands to Toxiproxy. */
  toxiproxyUrl: () => given('TEST_TOXIPROXY_URL'),
  /** The URL of an S3-compatible store, with credentials that may make buckets. */
  s3Url: () => given('TEST_S3_URL'),
  /** The path of FFmpeg. */
  ffmpeg: () => given('TEST_FFMPEG'),
  /** The path of libfaketime. */
  faketime: () => given('TEST_FAKETIME'),
  /** How this process can mount file systems: `root` or `sudo`. */
  mounts: () => given('TEST_MOUNTS'),
  /** The paths of programs that benchmarks need. */
  wrk: () => given('TEST_WRK'),
  nginx: () => given('TEST_NGINX'),
  stripeMockUrl: () => given('STRIPE_MOCK_URL'),
  /** The paths of the programs of Prometheus and Alertmanager that check rules and routes. */
  promtool: () => given('TEST_PROMTOOL'),
  amtool: () => given('TEST_AMTOOL'),
};

/** The name of a service's migrated, empty database, which each test file copies. */
export const templateName = (service: string) => `template_${service}`;
