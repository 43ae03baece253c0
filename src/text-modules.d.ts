/** Files that the bundler and the tests import as text; see scripts/bundle.js. */
declare module '*.csv' {
  const text: string;
  export default text;
}
declare module '*.bash' {
  const text: string;
  export default text;
}
declare module '*.zsh' {
  const text: string;
  export default text;
}
declare module '*.fish' {
  const text: string;
  export default text;
}
declare module '*.ps1' {
  const text: string;
  export default text;
}
declare module '*.md' {
  const text: string;
  export default text;
}
