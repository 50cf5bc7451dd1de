import { mortal, type TestService } from '@attribution/testing';
import { runImports } from '../src/imports/index.ts';
import { startOrganization } from './support.ts';
import { holdImports, never, openDependencies } from './support-imports.ts';

/** A service whose imports only the test runs. */
export interface HeldImports {
  readonly service: TestService;
  readonly deps: ReturnType<typeof openDependencies>;
  run(options?: { readonly turnMs?: number }): Promise<void>;
  /** Runs the waiting imports in a process that dies at a step. Returns false if it was done before that step. */
  runUntil(at: number): Promise<boolean>;
  /** Makes an import fail because of us until the returned function is called. */
  plantFault(id: string): Promise<() => Promise<unknown>>;
  stop(): Promise<void>;
}

export async function startHeldImports(): Promise<HeldImports> {
  const service = await startOrganization();
  const deps = openDependencies(service);
  const release = await holdImports(service);
  return {
    service,
    deps,
    run: (options) => runImports({ ...deps, ...options }).run(never),
    async runUntil(at) {
      const victim = mortal(deps.database, at);
      // A free lane would take steps too, more of them the slower the machine is.
      await runImports({ ...deps, database: victim.database, freeLaneMs: 600_000 })
        .run(never)
        .catch(() => {});
      return victim.dead;
    },
    async plantFault(id) {
      await service.db.query(`
        CREATE FUNCTION fault() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
          IF NEW.import_id = '${id}' THEN RAISE 'A fault of ours'; END IF; RETURN NEW;
        END $$;
        CREATE TRIGGER fault BEFORE INSERT ON estate_import_lots FOR EACH ROW EXECUTE FUNCTION fault()`);
      return () => service.db.query('DROP FUNCTION fault CASCADE');
    },
    async stop() {
      await release();
      await deps.database.close();
      await service.stop();
    },
  };
}
