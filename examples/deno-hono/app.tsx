import { Hono } from 'hono';
import { logger } from 'hono/logger';
import { secureHeaders } from 'hono/secure-headers';

const Page = ({ title }: { title: string }) => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <title>{title}</title>
    </head>
    <body>
      <h1>{title}</h1>
      <p>Served by Deno {Deno.version.deno}.</p>
    </body>
  </html>
);

export const app = new Hono();

app.use(logger());
app.use(secureHeaders());
app.get('/', (c) => c.html(<Page title="Hello from Deno" />));
app.get('/api/time', (c) => c.json({ now: new Date().toISOString() }));
