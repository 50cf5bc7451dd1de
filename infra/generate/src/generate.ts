import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { composeFile } from './compose.ts';
import { configurationPage } from './documents/configuration.ts';
import { eventsPage } from './documents/events.ts';
import { kubernetesFiles, servicesFolder } from './kubernetes/kustomizations.ts';
import { servicesPage } from './kubernetes/services-page.ts';
import { missingProcessesRule, missingProcessesTest, prometheusFile } from './prometheus.ts';
import type { Service } from './services.ts';
import type { Generated } from './tree.ts';

const prometheus = 'infra/observability/prometheus';

const template = (name: string) => readFile(join(import.meta.dirname, '../templates', name), 'utf8');

/** Generates all files that depend on the list of services. */
export async function generate(services: readonly Service[]): Promise<Generated> {
  return {
    files: new Map([
      ['docker-compose.yml', composeFile(await template('docker-compose.yml'), services)],
      ...kubernetesFiles(services),
      [`${prometheus}/prometheus.yml`, prometheusFile(await template('prometheus.yml'), services)],
      [`${prometheus}/rules/missing-processes.yml`, missingProcessesRule(services)],
      [`${prometheus}/missing-processes.test.yml`, missingProcessesTest(services)],
      ['k8s/services.md', servicesPage(services)],
      ['docs/configuration.md', configurationPage(services)],
      ['docs/events.md', eventsPage(services)],
    ]),
    folders: [servicesFolder],
  };
}
