// The bundler, the tests and Bun give the text of the file.
declare module '*.csv' {
  const text: string;
  export default text;
}
