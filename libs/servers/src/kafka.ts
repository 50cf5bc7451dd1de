import { aptInstall } from './apt.ts';
import { type Container, inDocker } from './docker.ts';
import { type Found, firstOf, given, type Missing, type Say } from './found.ts';
import { findJava, MIN_JAVA } from './java.ts';
import { startKafka } from './kafka-broker.ts';
import { cachedJars, kafkaVersion } from './kafka-jars.ts';
import { kafkaTrouble } from './kafka-ping.ts';
import { dockerEnvironment, nodeSettings } from './kafka-settings.ts';
import { which } from './which.ts';

export interface KafkaOptions {
  /** The directory of its data and log. It is created if it is missing. */
  directory: string;
  /** The folder that keeps Kafka's jars between runs. */
  cache: string;
  /** The pom.xml with Kafka's jars. Default: the workspace's. */
  pom?: string;
  /** Called before each step that takes time. */
  say: Say;
}

const HINT = `Start Docker, install Java ${MIN_JAVA} and Maven, or give TEST_KAFKA_BROKERS (host:port,…).`;

/**
 * A Kafka for tests: TEST_KAFKA_BROKERS, else in Docker, else run by this machine's Java, which is installed first, like
 * Maven, if possible. Rejects if the given one does not respond.
 */
export async function findKafka(options: KafkaOptions): Promise<Found | Missing> {
  const brokers = process.env.TEST_KAFKA_BROKERS;
  if (brokers) return given(`Kafka at ${brokers}`, brokers, 'TEST_KAFKA_BROKERS', kafkaTrouble);
  const docker = async () => inDocker(container(await kafkaVersion(options.pom)), options.say);
  return firstOf('Kafka', [docker, () => local(options)], HINT, options.say);
}

const urlOf = (port: number) => `127.0.0.1:${port}`;

/** The port is the same inside and outside, because the broker connects to itself at the address that it advertises. */
function container(version: string): Container {
  const controllerPort = 9093;
  const settings = (port: number) => ({
    ...nodeSettings({ port, controllerPort, bind: '0.0.0.0', data: '/tmp/kafka-data' }),
    // The image formats the storage only for voters that are fixed in the settings.
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
  });
  return {
    image: `apache/kafka:${version}`,
    args: (port) => ({
      before: [
        ...['--publish', `127.0.0.1:${port}:${port}`, '--env', 'KAFKA_HEAP_OPTS=-Xmx512m'],
        ...dockerEnvironment(settings(port)),
      ],
      after: [],
    }),
    url: urlOf,
    trouble: kafkaTrouble,
  };
}

async function local(options: KafkaOptions): Promise<Found | string> {
  const refused = await provide(options);
  if (refused !== undefined) return refused;
  const broker = await startKafka(options);
  const url = broker.brokers.join(',');
  const [version, java] = [await kafkaVersion(options.pom), await findJava()];
  return {
    found: `Kafka ${version} on this machine, Java ${java?.major}, port ${url.split(':')[1]}`,
    url,
    stop: broker.stop,
  };
}

/** Installs Java, and Maven if it is needed, unless they are there. Returns the reason if that fails. */
async function provide(options: KafkaOptions): Promise<string | undefined> {
  const java = (await findJava()) !== undefined;
  const maven = (await cachedJars(options)).there || (await which('mvn')) !== undefined;
  if (java && maven) return undefined;
  const tools = maven ? [] : ['maven'];
  // Newer releases of Debian have only a newer Java, under the second name.
  const runtimes = java ? [[]] : [['openjdk-17-jre-headless'], ['default-jre-headless']];
  const choices = runtimes.map((runtime) => [...runtime, ...tools]);
  const refused = await aptInstall(choices, options.say);
  if (refused === undefined) return undefined;
  const lacking = [java ? '' : `Java ${MIN_JAVA} or newer`, maven ? '' : 'Maven'].filter(Boolean);
  return `${lacking.join(' and ')} not found, and ${refused}`;
}
