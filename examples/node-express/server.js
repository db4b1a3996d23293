import express from 'express';

const app = express();

app.get('/', (request, response) => {
  response.json({ hello: 'from Express', node: process.version, path: request.path });
});

app.get('/health', (_request, response) => {
  response.send('ok\n');
});

const server = app.listen(process.env.PORT ?? 8080, () => {
  console.log(`listening on ${server.address().port}`);
});

process.on('SIGTERM', () => server.close(() => process.exit(0)));
