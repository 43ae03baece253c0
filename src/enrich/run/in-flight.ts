/** Responses that have not arrived. Equal requests share one; later ones get it from the cache. */
export class InFlight<T> {
  // An array, although it is searched by key: a Map with short-lived entries keeps deleted ones alive (see AGENTS.md).
  readonly #entries: { readonly key: string; readonly response: Promise<T> }[] = [];

  get(key: string): Promise<T> | undefined {
    return this.#entries.find((entry) => entry.key === key)?.response;
  }

  add(key: string, response: Promise<T>): Promise<T> {
    const entry = { key, response };
    this.#entries.push(entry);
    const remove = () => {
      this.#entries.splice(this.#entries.indexOf(entry), 1);
    };
    response.then(remove, remove);
    return response;
  }
}
