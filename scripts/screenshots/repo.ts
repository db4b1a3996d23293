import type { Api } from './api.ts';

const README = `# journal

Articles of the shop, written in Markdown and rendered by a small server.

- \`src/main.ts\` answers requests
- \`src/render.ts\` turns an article into a page
- \`articles/\` holds one file per article

## Start

\`\`\`sh
bun install
bun run src/main.ts
\`\`\`

| branch | goes to |
|---|---|
| \`main\` | the live site |
| \`drafts\` | nowhere, until it is merged |
`;

const MAIN = `import { render } from './render.ts';

const articles = new Map<string, string>();

for await (const file of new Bun.Glob('articles/*.md').scan()) {
  articles.set(file.slice('articles/'.length, -'.md'.length), await Bun.file(file).text());
}

const server = Bun.serve({
  port: Number(process.env.PORT ?? 8080),
  fetch(request) {
    const name = new URL(request.url).pathname.slice(1) || 'welcome';
    const article = articles.get(name);
    if (article === undefined) return new Response('Not found', { status: 404 });
    return new Response(render(article), { headers: { 'content-type': 'text/html; charset=utf-8' } });
  },
});

console.log(\`listening on \${server.port}, \${articles.size} articles\`);
`;

const RENDER = `/** Markdown in, a whole page out. */
export const render = (text: string): string => {
  const [title = 'Untitled', ...rest] = text.split('\\n');
  return page(title.replace(/^# /, ''), rest.join('\\n'));
};

const page = (title: string, body: string): string =>
  \`<!doctype html><title>\${escape(title)}</title><h1>\${escape(title)}</h1>\${Bun.markdown.html(body)}\`;

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
`;

const article = (title: string, text: string): string => `# ${title}\n\n${text}\n`;

const file = (path: string, content: string) => ({ path, content });

const COMMITS = [
  {
    message: 'Begin with a server and a first article',
    files: [
      file('README.md', README),
      file(
        'package.json',
        '{\n  "name": "journal",\n  "type": "module",\n  "scripts": { "start": "bun src/main.ts" }\n}\n',
      ),
      file('src/main.ts', MAIN),
      file('src/render.ts', RENDER),
      file('articles/welcome.md', article('Welcome', 'We write about what we make, and how.')),
    ],
  },
  {
    message: 'Write about linen',
    files: [file('articles/linen.md', article('Why linen', 'It cools in summer, and lasts for decades.'))],
  },
  { message: 'Ignore what is built', files: [file('.gitignore', 'node_modules\ndist\n')] },
  {
    message: 'Cache pages for five minutes\n\nReaders come in waves, after each newsletter.',
    files: [
      file(
        'src/main.ts',
        MAIN.replace("{ headers: { 'content-type': 'text/html; charset=utf-8' } }", 'HTML').replace(
          'const articles =',
          "const HTML = {\n  headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'public, max-age=300' },\n};\n\nconst articles =",
        ),
      ),
      file('articles/welcome.md', article('Welcome', 'We write about what we make, how, and for whom.')),
    ],
  },
];

/** A repository with a few commits, and a branch; gives the newest commit of the default branch. */
export const fillRepo = async (api: Api, project: string): Promise<string> => {
  await api.post(`/v1/projects/${project}/repos`, { name: 'journal' });
  const commits = `/v1/projects/${project}/repos/journal/commits`;
  let head = '';
  for (const commit of COMMITS) head = (await api.post<{ commit: { id: string } }>(commits, commit)).commit.id;
  await api.post(commits, {
    branch: 'drafts',
    from: 'main',
    message: 'Draft an article about wool',
    files: [file('articles/wool.md', article('On wool', 'Draft: where it comes from, and how to wash it.'))],
  });
  return head;
};
