import type { Detail, Entry } from '../document.ts';
import { el } from './dom.ts';

/** Labels and values as a list of terms. */
export function entryList(entries: readonly Entry[]): HTMLElement {
  const list = el('dl');
  for (const [label, value] of entries) {
    const simple = typeof value === 'string' || 'href' in value;
    list.append(
      el(
        'div',
        simple ? {} : { class: 'nested' },
        el('dt', { dir: 'auto' }, label),
        el('dd', { dir: 'auto' }, detail(value)),
      ),
    );
  }
  return list;
}

function detail(value: Detail): Node | string {
  if (typeof value === 'string') return value;
  if ('href' in value) return link(value.href, value.text);
  if ('pairs' in value) return value.pairs.length === 0 ? '-' : entryList(value.pairs);
  return el('ul', {}, ...value.list.map((item) => el('li', { dir: 'auto' }, detail(item))));
}

/** A link out of the page, which learns nothing of where it came from; only to a web address or a telephone. */
export function link(href: string, text: string): Node | string {
  if (!/^(?:https?:\/\/|tel:)/.test(href)) return text;
  return el('a', { href, target: '_blank', rel: 'noopener noreferrer' }, text);
}
