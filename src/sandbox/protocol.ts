import type { Access } from './auth.ts';
import type { Answer } from './reply.ts';
import { errorMessage, type Incoming, RpcError, type RpcId, type RpcObject, resultMessage } from './rpc.ts';

/** Headers by lower-case name. */
export type Headers = Readonly<Record<string, string>>;

/** A POST that passed the door, the key and the limits. */
export interface Post {
  readonly incoming: Incoming;
  readonly access: Access;
  readonly headers: Headers;
}

/** What the sandbox speaks behind the door. Both functions may throw a Refusal or an RpcError. */
export interface Protocol {
  /** HTTP methods that are let in. */
  readonly methods: readonly string[];
  post(post: Post): Answer;
  /** The other methods, which have no body. */
  bodiless(method: string, headers: Headers, access: Access): Answer;
}

/** The response to a request: what `run` gives, or the JSON-RPC error that it throws to travel under HTTP 200. */
export function respond(id: RpcId, run: () => unknown): RpcObject {
  try {
    return resultMessage(id, run());
  } catch (error) {
    if (error instanceof RpcError && error.status === 200) return errorMessage(id, error);
    throw error;
  }
}
