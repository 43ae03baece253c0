import {
  type CallState,
  type Channel,
  countRequest,
  exchange,
  isRefused,
  type RpcMessage,
} from './rpc/exchange.ts';
import type { Outcome } from './rpc/outcome.ts';
import { planRetry } from './rpc/retry.ts';

/** Sends a message until it succeeds, or its failure is final. @throws the signal's reason, and what a callback throws */
export async function send(channel: Channel, state: CallState, message: RpcMessage): Promise<Outcome> {
  const effect = message.effect ?? state.effect;
  for (let attempt = 0; ; attempt += 1) {
    const waitingSince = channel.now();
    await channel.gate.wait(state.signal);
    state.deadline += channel.now() - waitingSince;
    const takeBack = await countRequest(channel, state);
    const outcome = await exchange(channel, state, message);
    const { failure } = outcome;
    if (failure === undefined) return outcome;
    const { details } = failure;
    const { status, retryAfter } = details;
    if (isRefused(failure)) await takeBack?.();
    const isPause = status === 429 && retryAfter !== undefined;
    if (isPause) await channel.events.onRateLimited?.(channel.now() + retryAfter * 1000);
    const remainingMs = state.deadline - channel.now();
    const plan = planRetry(details, { attempt, effect, remainingMs }, channel);
    if (plan.end !== undefined) {
      failure.add(plan.end);
      return outcome;
    }
    channel.events.onWait?.({ ms: plan.waitMs, error: failure });
    // After a 429, no call of this client is sent before the gate opens.
    if (status === 429) channel.gate.closeUntil(channel.now() + plan.waitMs);
    // A pause that the service requested is spent at the gate, and does not count against the deadline.
    if (!isPause) await channel.sleep(plan.waitMs, state.signal);
  }
}
