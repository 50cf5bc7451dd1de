import { openService, type Service, type ServiceParts } from '@attribution/service';
import { getBillingSummaryEndpoint, onAccountCreated, onAccountPurged } from './customers/index.ts';
import { PrismaClient } from './generated/prisma/client.ts';
import { listPlanPricesEndpoint, listUsagePricesEndpoint } from './prices/index.ts';
import type { Tx } from './store.ts';

/** Customers and prices. */
export function createBillingService(parts: ServiceParts): Service {
  const service = openService<PrismaClient, Tx>(
    'billing',
    parts,
    (adapter) => new PrismaClient({ adapter, errorFormat: 'minimal' }),
  );
  const { database } = service;

  return service.assemble({
    publishes: [],
    implementations: [
      getBillingSummaryEndpoint(database),
      listPlanPricesEndpoint(database),
      listUsagePricesEndpoint(database),
    ],
    handlers: [onAccountCreated, onAccountPurged],
  });
}
