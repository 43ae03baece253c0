import { button, el } from './elements.ts';

/** The map with a strip above it, to which it can be folded. */
export class MapPanel {
  readonly map = el('div', { id: 'map', role: 'region', 'aria-label': 'Map' });
  readonly element: HTMLElement;
  readonly #why = el('span', { role: 'status' });
  readonly #toggle = button(
    { 'aria-controls': 'map' },
    () => (this.isFolded ? this.open() : this.fold()),
    '',
  );
  readonly #strip = el('p', { class: 'strip' }, this.#why, this.#toggle);

  constructor() {
    this.#strip.hidden = true;
    this.element = el('section', { class: 'panel', 'aria-label': 'Map of the list' }, this.#strip, this.map);
  }

  get isFolded(): boolean {
    return this.map.hidden === true;
  }

  /** Whether the strip says why the map is folded. */
  get hasReason(): boolean {
    return this.#why.textContent !== '';
  }

  /** Folds the map to the strip. @param why printed in the strip */
  fold(why = this.#why.textContent ?? ''): void {
    this.#set(true);
    this.#strip.hidden = false;
    this.#why.textContent = why;
  }

  open(): void {
    this.#set(false);
  }

  restore(): void {
    this.open();
    this.#why.textContent = '';
    this.#strip.hidden = true;
  }

  #set(isFolded: boolean): void {
    this.map.hidden = isFolded;
    this.element.classList.toggle('folded', isFolded);
    this.#toggle.textContent = isFolded ? 'Show the map' : 'Hide the map';
    this.#toggle.setAttribute('aria-expanded', String(!isFolded));
  }
}
