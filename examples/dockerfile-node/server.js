const { createServer } = require('node:http');

const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ hello: `from ${process.env.GREETING}` }));
});

server.listen(process.env.PORT ?? 8080, '0.0.0.0');
process.on('SIGTERM', () => server.close(() => process.exit(0)));
