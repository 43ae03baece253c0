import type { AppError } from '../errors.ts';
import type { Call, ChannelAnswer } from './channel.ts';
import { demandIn, isPlainRefusal } from './era.ts';
import { MODERN_VERSIONS } from './modern.ts';
import type { Remembered, SessionMemory, Speaker, Speakers, Wanted } from './session.ts';

/** Finds out what a service speaks: plain first, and what its refusal asks for. What worked is remembered. */
export function learningSpeaker(speakers: Speakers, memory: SessionMemory | undefined): Speaker {
  let known: Remembered | undefined;
  let asked = false;
  /** Eras that the service has refused: not tried twice. */
  const ruledOut = new Set<string>();

  function remember(found: Remembered): void {
    if (known?.era === found.era && known.version === found.version) return;
    known = found;
    memory?.write(found);
  }

  /** Whether an answer in the era that worked before is to be kept. If not, that era is forgotten. */
  function stillWorks(answer: ChannelAnswer | undefined): answer is ChannelAnswer {
    if (answer !== undefined && demandIn(answer) === undefined) return true;
    if (answer !== undefined && isPlainRefusal(answer, answer.id)) return true;
    known = undefined;
    memory?.forget();
    return false;
  }

  return {
    async call(call, wanted) {
      if (!asked) known = memory?.read();
      asked = true;
      const before = known;
      const first = before === undefined ? undefined : await speakAs(speakers, before, call, wanted);
      if (before !== undefined && stillWorks(first)) return first;
      const plain = before?.era === 'bare' ? first : undefined;
      const answer = plain ?? (await speakers.bare.call(call, wanted));
      const demand = demandIn(answer);
      if (demand === undefined) {
        if (answer.reply !== undefined && answer.error === undefined) remember({ era: 'bare' });
        return answer;
      }
      const found: Remembered =
        demand.era === 'modern' ? { era: 'modern', version: demand.version } : { era: 'legacy' };
      if (ruledOut.has(found.era)) return answer;
      const second = await speakAs(speakers, found, call, wanted);
      // Refused in that way too: the first refusal is the one to tell.
      if (second === undefined || (demandIn(second) !== undefined && !isPlainRefusal(second, second.id))) {
        ruledOut.add(found.era);
        return answer;
      }
      const version = found.version ?? speakers.legacy.version();
      remember({ era: found.era, ...(version === undefined ? {} : { version }) });
      return second;
    },
    close: async () => {},
  };
}

/** Makes a call in an era; undefined when the service refuses the handshake, or the era is not known. */
async function speakAs(
  speakers: Speakers,
  { era, version }: Remembered,
  call: Call,
  wanted: Wanted,
): Promise<ChannelAnswer | undefined> {
  if (era === 'bare') return speakers.bare.call(call, wanted);
  if (era === 'modern') {
    return speakers
      .modern(MODERN_VERSIONS.find((each) => each === version) ?? MODERN_VERSIONS[0] ?? '')
      .call(call, wanted);
  }
  if (era !== 'legacy') return undefined;
  const refused: AppError | undefined = await speakers.legacy.open(call);
  return refused === undefined ? speakers.legacy.call(call, wanted) : undefined;
}
