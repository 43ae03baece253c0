import type { TraceContext } from '../client/rpc/envelope.ts';
import { variable } from '../settings/settings.ts';
import type { App } from './app.ts';

export const clientSettings = ({ settings }: App) => ({
  protocol: settings.get('protocol'),
  timeoutMs: settings.get('timeout'),
  retries: settings.get('retries'),
  maxWaitMs: settings.get('max-wait'),
});

export const traceContextOf = (env: App['context']['env']): TraceContext => ({
  traceparent: variable(env, 'TRACEPARENT'),
  tracestate: variable(env, 'TRACESTATE'),
  baggage: variable(env, 'BAGGAGE'),
});
