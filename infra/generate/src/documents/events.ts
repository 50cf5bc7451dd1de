import { type Endpoint, type EventType, events, internalEndpoints, type Topic } from '@attribution/contracts';
import { callsOf, type Service } from '../services.ts';
import { header, inMarkdown, listed, titled } from '../text.ts';
import { code, table } from './markdown.ts';

/** Generates docs/events.md: topics, events and their handlers, snapshots, and Internal calls. */
export function eventsPage(services: readonly Service[]): string {
  const topics = services.flatMap(({ publishes }) => publishes);
  return `${header(inMarkdown, 'the events of libs/contracts')}

# Who publishes what to whom

Services communicate in two ways: they publish events to Kafka, and they call each other's Internal endpoints. Both are declared in
\`libs/contracts\`. The definition of a service names what it publishes, handles and calls.

## Topics

${table(
  ['topic', 'published by', 'partitions', 'kept', 'copies'],
  topics.map((topic) => [code(topic.name), topic.owner, String(topic.partitions), retentionOf(topic), copiesOf(topic)]),
)}

An event's key chooses its partition; events with the same key keep their order. Every service also has a topic \`<service>.dead-letters\`
for events that it could not handle.

${topics.map((topic) => ofTopic(topic, services)).join('\n\n')}

## Snapshots

An event describes one change. A service that keeps a projection of another service's data first reads a snapshot of all of it, page by
page ([ADR 18](adr/0018-projections-by-snapshot-and-stream.md)).

${table(['service', 'follows', 'of', 'in the tables'], services.flatMap(snapshotsOf))}

## Internal calls

${table(['caller', 'its processes', 'calls'], services.flatMap(internalCallsOf))}

The contract names the services that may call an endpoint. A service that may call its own endpoint does so in an operator's command.

${table(
  ['endpoint', 'of', 'what it does', 'may be called by'],
  internalEndpoints.map((endpoint) => [
    code(`${endpoint.method} ${endpoint.path}`),
    endpoint.service,
    endpoint.summary,
    listed(callersOf(endpoint)) || 'nobody',
  ]),
)}
`;
}

const retentionOf = ({ cleanupPolicy, retentionDays }: Topic) =>
  cleanupPolicy === 'compact' ? 'the newest of each key' : `${retentionDays} days`;

const copiesOf = ({ replicationFactor, minInsyncReplicas }: Topic) =>
  `${replicationFactor}, of which ${minInsyncReplicas} must have it`;

function ofTopic(topic: Topic, services: readonly Service[]): string {
  const rows = events
    .filter((event) => event.topic.name === topic.name)
    .map((event) => [code(event.type), String(event.version), listed(handlersOf(event, services)) || 'nobody']);
  return `## ${code(topic.name)}\n\n${table(['event', 'version', 'handled by'], rows)}`;
}

const handlersOf = ({ type, version }: EventType, services: readonly Service[]): string[] =>
  services
    .filter(({ handles }) => handles.some((event) => event.type === type && event.version === version))
    .map(({ name }) => name);

const snapshotsOf = ({ name, follows }: Service) =>
  Object.entries(follows).map(([snapshot, { from, tables }]) => [name, snapshot, from, listed(tables.map(code))]);

const internalCallsOf = (service: Service) =>
  callsOf(service).map(({ name, roles }) => [titled(service.name), listed(roles), titled(name)]);

const callersOf = ({ access }: Endpoint): readonly string[] => (access.credential === 'internal' ? access.callers : []);
