/** A request that HTTP itself turns away: the body is `{"error":{"code","message"}}`. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  /** The body of the reply. */
  body(): string {
    return JSON.stringify({ error: { code: this.code, message: this.message } });
  }
}
