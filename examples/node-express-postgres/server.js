import express from 'express';
import pg from 'pg';

// `berth db add postgres` gives DATABASE_URL to every service of the project; nothing else is needed.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
// A connection that ends while nobody uses it, because the database restarts, is no reason to end too.
pool.on('error', (error) => console.log(`a connection ended: ${error.message}`));

let prepared;
const notes = async (sql, values) => {
  prepared ??= pool.query(
    `CREATE TABLE IF NOT EXISTS notes (
       id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
       text text NOT NULL CHECK (length(text) BETWEEN 1 AND 500),
       at timestamptz NOT NULL DEFAULT now()
     )`,
  );
  try {
    await prepared;
  } catch (error) {
    prepared = undefined;
    throw error;
  }
  return (await pool.query(sql, values)).rows;
};

const newest = () => notes('SELECT id, text, at FROM notes ORDER BY id DESC LIMIT 100');

const escape = (text) => text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);

const page = (list) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Notes</title>
<style>
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }
  form { display: flex; gap: .5rem }
  input { flex: 1; font: inherit; padding: .3rem .6rem }
  button { font: inherit }
  time { color: #666; font-size: .85rem }
</style>
<h1>Notes that stay</h1>
<form method="post" action="/notes">
  <input name="text" maxlength="500" required autofocus aria-label="A note">
  <button>Keep</button>
</form>
<ul>
${list.map(({ text, at }) => `  <li>${escape(text)} <time>${at.toISOString().slice(0, 16).replace('T', ' ')}</time>`).join('\n')}
</ul>
`;

const app = express();
app.use(express.urlencoded({ extended: false }), express.json());

app.get('/', async (_request, response) => {
  response.send(page(await newest()));
});

app.get('/notes', async (_request, response) => {
  response.json(await newest());
});

app.post('/notes', async (request, response) => {
  await notes('INSERT INTO notes (text) VALUES ($1)', [String(request.body?.text ?? '').trim()]);
  response.redirect(303, '/');
});

app.use((error, _request, response, _next) => {
  console.error(error);
  const isWrong = error.code === '23514';
  response.status(isWrong ? 400 : 503).send(isWrong ? 'a note has 1 to 500 characters\n' : 'the database does not answer\n');
});

const server = app.listen(process.env.PORT ?? 8080, () => {
  console.log(`listening on ${server.address().port}`);
});

process.on('SIGTERM', () => server.close(() => pool.end().then(() => process.exit(0))));
