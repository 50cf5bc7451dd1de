/** The part of WebAssembly's API (MDN) used here: Node has it, its type declarations do not. */
declare namespace WebAssembly {
  type Module = object;
  interface Instance {
    readonly exports: Record<string, unknown>;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Record<string, unknown>): Promise<Instance>;
}
