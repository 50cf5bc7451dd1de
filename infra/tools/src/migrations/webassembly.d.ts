/** The part of the WebAssembly API that is used here (MDN). Node's type declarations lack it. */
declare namespace WebAssembly {
  type Module = object;
  interface Instance {
    readonly exports: Record<string, unknown>;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
  function instantiate(module: Module, imports: Record<string, unknown>): Promise<Instance>;
}
