export interface Node {
  /** The port for clients, which reach it at 127.0.0.1. */
  port: number;
  /** The port for the node itself. */
  controllerPort: number;
  /** The address to listen on for clients. Default 127.0.0.1. */
  bind?: string;
  /** The directory of the data. */
  data: string;
}

type Settings = Record<string, string>;

/** A single node that is both broker and controller, with one copy of everything, and without delays for groups. */
export function nodeSettings({ port, controllerPort, bind = '127.0.0.1', data }: Node): Settings {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    listeners: `PLAINTEXT://${bind}:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': data,
    'num.partitions': '6',
    'auto.create.topics.enable': 'false',
    'group.initial.rebalance.delay.ms': '0',
    'offsets.topic.replication.factor': '1',
    // The partitions of this topic, 50 by default, are created when the first group appears.
    'offsets.topic.num.partitions': '5',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'transaction.state.log.num.partitions': '5',
  };
}

/** A Java properties file. */
export function properties(settings: Settings): string {
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value.replaceAll('\\', '\\\\')}\n`);
  return lines.join('');
}

/** Arguments of `docker run` that pass the settings to the image apache/kafka. */
export function dockerEnvironment(settings: Settings): string[] {
  return Object.entries(settings).flatMap(([key, value]) => [
    '--env',
    `KAFKA_${key.toUpperCase().replaceAll('.', '_')}=${value}`,
  ]);
}
