import type { Dir } from '../../source-tree.ts';
import { type Token, pythonTokens } from '../support/tokens.ts';
import { candidates, severalApps } from './instances.ts';
import { type Has, inShell } from './servers.ts';

interface DataApp {
  title: string;
  argv: string[];
  reason: string;
}

interface Kind {
  /** Name of the package, and of the module that its apps import. */
  name: string;
  title: string;
  command: (file: string) => string[];
}

const USUAL = [
  'app.py',
  'streamlit_app.py',
  'Home.py',
  'home.py',
  'main.py',
  'src/app.py',
  'src/streamlit_app.py',
  'src/main.py',
  'app/app.py',
  'app/main.py',
  'demo.py',
];

const PORT = '"${PORT:-8080}"';

const KINDS: Kind[] = [
  {
    name: 'streamlit',
    title: 'Streamlit',
    command: (file) =>
      inShell(
        `streamlit run ${file} --server.port ${PORT} --server.address 0.0.0.0 --server.headless true --server.fileWatcherType none --browser.gatherUsageStats false`,
      ),
  },
  {
    name: 'gradio',
    title: 'Gradio',
    command: (file) =>
      inShell(
        `env GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=${PORT} GRADIO_ANALYTICS_ENABLED=False python ${file}`,
      ),
  },
  {
    name: 'chainlit',
    title: 'Chainlit',
    command: (file) => inShell(`chainlit run ${file} --host 0.0.0.0 --port ${PORT} --headless`),
  },
  {
    name: 'panel',
    title: 'Panel',
    command: (file) => inShell(`panel serve ${file} --address 0.0.0.0 --port ${PORT} --allow-websocket-origin '*'`),
  },
];

/** Apps that a program of their framework runs from a file, which imports it. */
export const dataApp = (app: Dir, has: Has, strict: boolean): DataApp | null => {
  for (const kind of KINDS.filter(({ name }) => has(name))) {
    const file = fileOf(app, kind, strict);
    if (file !== null) return { title: kind.title, argv: kind.command(file), reason: `${file} imports ${kind.name}` };
  }
  return null;
};

const fileOf = (app: Dir, { name, title }: Kind, strict: boolean): string | null => {
  const imports = (file: string): boolean => importsModule(pythonTokens(app.read(file) ?? ''), name);
  const usual = USUAL.find((file) => app.has(file) && imports(file));
  if (usual !== undefined) return usual;
  const top = candidates(app).filter((file) => /^(src\/)?[\w-]+\.py$/.test(file) && imports(file));
  if (top.length > 1 && strict) throw severalApps(title, top);
  return top[0] ?? null;
};

/** `import streamlit as st`, `from streamlit import ...`. */
const importsModule = (tokens: Token[], name: string): boolean =>
  tokens.some(
    (token, index) =>
      token.kind === 'name' && (token.text === 'import' || token.text === 'from') && tokens[index + 1]?.text === name,
  );
