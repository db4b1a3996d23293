import { app } from './app.tsx';

Deno.test('the page greets', async () => {
  const response = await app.request('/');
  const text = await response.text();
  if (!text.includes('Hello from Deno')) throw new Error(text);
});
