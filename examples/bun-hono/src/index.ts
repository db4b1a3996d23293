import { Hono } from 'hono';

const app = new Hono();

app.get('/', (context) => context.json({ hello: 'from Hono', bun: Bun.version }));

const server = Bun.serve({ fetch: app.fetch, hostname: '0.0.0.0', port: Number(process.env.PORT ?? 8080) });
console.log(`listening on ${server.port}`);

process.on('SIGTERM', async () => {
  await server.stop();
  process.exit(0);
});
