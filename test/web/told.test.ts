import { QueryClient, QueryObserver } from '@tanstack/react-query';
import { expect, test } from 'bun:test';
import { keepTold } from '../../web/data/client.ts';

const KEY = ['project', 'shop'];

const reading = (client: QueryClient) => {
  const answer = Promise.withResolvers<string>();
  const observer = new QueryObserver(client, { queryKey: KEY, queryFn: () => answer.promise, retry: false });
  const stop = observer.subscribe(() => undefined);
  return { answer, observer, stop };
};

test('what the server told is not replaced by an answer that was under way, first or not', async () => {
  const client = new QueryClient();
  const first = reading(client);
  keepTold(KEY, 'new', client);
  expect(first.observer.getCurrentResult()).toMatchObject({ status: 'success', data: 'new' });
  first.answer.resolve('old');
  await first.answer.promise;
  await Promise.resolve();
  expect(client.getQueryData<string>(KEY)).toBe('new');

  const again = client.fetchQuery({ queryKey: KEY, queryFn: () => Promise.resolve('newest') });
  expect(await again).toBe('newest');
  first.stop();
  client.clear();
});
