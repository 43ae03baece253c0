import { type CallState, exchange, type Line, type RpcMessage } from './rpc/exchange.ts';
import type { Outcome } from './rpc/reply.ts';
import { planRetry } from './rpc/retry.ts';

/**
 * The kernel: sends a message until it succeeds, or its failure is final. Each attempt has a new id.
 * @throws the signal's reason, and what a callback throws
 */
export async function send(line: Line, call: CallState, message: RpcMessage): Promise<Outcome> {
  const policy = message.policy ?? call.policy;
  for (let attempt = 0; ; attempt += 1) {
    const waitsFrom = line.now();
    await line.gate.wait(call.signal);
    await line.onRequest?.();
    call.deadline += line.now() - waitsFrom;
    const outcome = await exchange(line, call, message);
    const { failure } = outcome;
    if (failure === undefined) return outcome;
    const { status, retryAfter } = failure.details;
    const isPause = status === 429 && retryAfter !== undefined;
    if (isPause) await line.onRateLimited?.(line.now() + retryAfter * 1000);
    const plan = planRetry(failure, { attempt, policy, remainingMs: call.deadline - line.now() }, line);
    if (plan.failure !== undefined) return { ...outcome, failure: plan.failure };
    line.onWait?.({ ms: plan.waitMs, error: failure });
    if (status === 429) line.gate.closeUntil(line.now() + plan.waitMs);
    // A pause that the service requested happens at the gate, for all calls.
    if (!isPause) await line.sleep(plan.waitMs, call.signal);
  }
}
