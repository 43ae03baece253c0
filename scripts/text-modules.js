/** The kinds of files that the program imports as text, as rolldown takes them. */
export const TEXT_MODULES = {
  '.csv': 'text',
  '.md': 'text',
  '.bash': 'text',
  '.zsh': 'text',
  '.fish': 'text',
  '.ps1': 'text',
};
