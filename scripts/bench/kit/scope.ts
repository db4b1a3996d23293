/** Remembers how to undo what a benchmark set up, and undoes it, the last first, whatever happens in between. */
export class Scope {
  readonly #undo: (() => unknown)[] = [];
  #closing: Promise<void> | undefined;

  defer(undo: () => unknown): void {
    this.#undo.push(undo);
  }

  /** A part that ends earlier, or with the whole. */
  part(): Scope {
    const part = new Scope();
    this.defer(() => part.close());
    return part;
  }

  close(): Promise<void> {
    this.#closing ??= this.#undoAll();
    return this.#closing;
  }

  async #undoAll(): Promise<void> {
    const faults: unknown[] = [];
    for (const undo of this.#undo.reverse()) {
      try {
        await undo();
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw new AggregateError(faults, 'could not clean up');
  }
}
