/** A variation selector after a character that has variations: an emoji, a keycap, an ideograph, or a math sign. */
const USED_SELECTOR = String.raw`(?<=\p{Extended_Pictographic})[\ufe0e\ufe0f]|(?<=[#*0-9])\ufe0f(?=\u20e3)|(?<=\p{Unified_Ideograph})[\ufe00-\ufe02\u{e0100}-\u{e01ef}]|(?<=\p{Sm})\ufe00`;

/** Source of a pattern for invisible variation selectors and joining marks, which can hide text. */
export const STRAY_MARK = String.raw`(?!${USED_SELECTOR})[\u034f\u17b4\u17b5\u180b-\u180d\u180f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]`;
