import { gatewaySettings } from '@attribution/gateway/config';
import { ingressSettings } from '@attribution/gateway/ingress/config';
import { choice, nodeSettings } from '@attribution/image';
import { localSettings } from '@attribution/local/settings';
import { addressSetting, describeSettings, type SettingDescription } from '@attribution/runtime';
import { serviceSettings } from '@attribution/service';
import { callsOf, type Service } from '../services.ts';
import { header, inMarkdown, listed, titled } from '../text.ts';
import { settingsTable } from './markdown.ts';

const without = (settings: readonly SettingDescription[], known: readonly SettingDescription[]) =>
  settings.filter(({ name }) => known.every((other) => other.name !== name));

const gateway = describeSettings(gatewaySettings);
const ingress = describeSettings(ingressSettings);
const everyService = describeSettings(serviceSettings.api);
/** The settings that the gateway and every service share. */
const everyProcess = everyService.filter(({ name }) => gateway.some((other) => other.name === name));
/** The settings that only `npm start` has, or that it describes differently. */
const local = describeSettings(localSettings).filter(
  ({ name, description }) => !everyProcess.some((other) => other.name === name && other.description === description),
);
const migration = without(describeSettings(serviceSettings.migrate), everyService);
const workers = without(describeSettings(serviceSettings.worker), everyService);

/** docs/configuration.md: every environment variable that a process reads. */
export function configurationPage(services: readonly Service[]): string {
  return `${header(inMarkdown, 'the settings of libs/service, gateway, infra/image and infra/local')}

# Configuration

All configuration is in environment variables, which a process reads once, when it starts. If a value is invalid, the process names the
variable and does not start; it never shows values. An empty variable counts as unset.

\`npm start\` generates keys, secrets, databases and addresses by itself; \`npm run compose\` and \`npm run fleet\` keep theirs in \`.env\`.

## \`npm start\`

${settingsTable(local)}

It also reads all variables below, except for the addresses of servers: it starts its own Postgres, and needs no Kafka.

## Every process

${settingsTable([...describeSettings(choice), ...everyProcess])}

## Every service: \`SERVICE=<name> node infra/image/src/main.ts\`

${settingsTable(without(everyService, everyProcess))}

### Where \`ROLE\` is \`worker\` or \`all\`

${settingsTable(workers)}

### Where \`ROLE\` is \`migrate\`

${settingsTable(migration)}

${services.map(ofService).join('\n\n')}

## The gateway: \`node gateway/src/main.ts\`

${settingsTable(without(gateway, everyProcess))}

## The ingress of devices: \`node gateway/src/ingress/main.ts\`

It has the settings of every process but \`TOKEN_PUBLIC_KEYS\`.

${settingsTable(
  without(
    ingress,
    everyProcess.filter(({ name }) => name !== 'PORT'),
  ),
)}

## Node itself

${settingsTable(describeSettings(nodeSettings))}
`;
}

function ofService(service: Service): string {
  const addresses = callsOf(service).map(
    ({ name, roles }): SettingDescription => ({
      name: addressSetting(name),
      description: `Where ${titled(name)} answers, which the ${listed(roles)} ${roles.length > 1 ? 'call' : 'calls'}`,
      required: true,
      secret: false,
    }),
  );
  const settings = [...addresses, ...describeSettings(service.settings)];
  return `## ${titled(service.name)}

${service.summary}.

${settings.length > 0 ? settingsTable(settings) : 'It has no settings besides those of every service.'}`;
}
