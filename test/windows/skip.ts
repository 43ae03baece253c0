import { beforeEach } from 'vitest';
import { reasonFor } from './left-out.ts';

/** Titles of the groups and of the test. */
function titleOf({
  name,
  suite,
}: {
  name: string;
  suite?: Parameters<typeof titleOf>[0] | undefined;
}): string {
  return suite === undefined ? name : `${titleOf(suite)} > ${name}`;
}

beforeEach(({ task, skip }) => {
  const reason = reasonFor(task.file.name, titleOf(task));
  if (reason !== undefined) skip(reason);
});
