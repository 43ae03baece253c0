/** Makes an element. Children that are text stay text: nothing here is ever read as markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** A button that does something. */
export function button(
  attributes: Readonly<Record<string, string>>,
  run: () => void,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  const element = el('button', { type: 'button', ...attributes }, ...children);
  element.addEventListener('click', run);
  return element;
}

/** A number as people of the page's language write it. */
export const formatCount = (count: number): string => count.toLocaleString('en-US');

/** How many there are of something. */
export const amount = (count: number, one: string, more = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : more}`;

/** Whether the person asked for less motion. */
export const prefersReducedMotion = (): boolean => matchMedia('(prefers-reduced-motion: reduce)').matches;
