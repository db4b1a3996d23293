import { describe, expect, test } from 'bun:test';
import { cliClient } from '#test/support/git-cli-client.ts';
import { SCENARIOS } from '#test/support/git-scenarios.ts';
import { hostedOn, startGitServer } from '#test/support/git-server.ts';

describe('git on the command line', () => {
  test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))('%s', async (_name, scenario) => {
    const server = startGitServer();
    const hosted = await hostedOn(server);
    await scenario.play(cliClient, hosted);
    expect(await hosted.fsck()).toBe('');
    expect(server.lines).toEqual([]);
  });
});
