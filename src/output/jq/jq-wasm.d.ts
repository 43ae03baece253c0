declare module 'jq-wasm/dist/build/jq.js' {
  interface Streams {
    stdin(): number | null;
    stdout(byte: number | null): void;
    stderr(byte: number | null): void;
  }
  /** The streams take effect with the changes of scripts/assets.js. */
  export default function openJq(streams: Streams): Promise<{ callMain(words: string[]): void }>;
}
