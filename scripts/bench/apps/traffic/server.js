import { createServer } from 'node:http';
import { WebSocketServer } from 'ws';

const VERSION = 'VERSION';

const server = createServer((request, response) => {
  const milliseconds = request.url === '/slow' ? 5000 : 0;
  setTimeout(() => response.end(VERSION), milliseconds);
});
const sockets = new WebSocketServer({ server });
sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(message.toString())));

// An app that is asked to end says so to its clients, and answers what it has begun.
process.on('SIGTERM', () => {
  for (const socket of sockets.clients) socket.close(1001, 'restarting');
  server.close(() => process.exit(0));
});

server.listen(process.env.PORT, '0.0.0.0');
