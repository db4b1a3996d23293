import { useState } from 'react';
import { asApiError } from '../api.ts';
import { toast } from '../ui/toast.tsx';
import { sourceOfTexts } from './collect.ts';
import { load } from './load.ts';
import type { Source } from './source.ts';

/** What each example shows; the files come with the page, loaded when one is picked. */
const EXAMPLES = [
  { name: 'static-site', title: 'Static site', says: 'HTML and CSS, with pretty addresses' },
  { name: 'node-express', title: 'Node', says: 'Express, with a health path' },
  { name: 'python-fastapi', title: 'Python', says: 'FastAPI, typed and documented' },
  { name: 'go-http', title: 'Go', says: 'The standard library alone' },
  { name: 'bun-hono', title: 'Bun', says: 'Hono, in a few lines' },
  { name: 'dockerfile-node', title: 'Dockerfile', says: 'Your own build, step by step' },
] as const;

/** Apps that are known to work, to see it happen before one's own. */
export const Examples = ({ onSource }: { onSource: (source: Source) => void }) => {
  const [loading, setLoading] = useState<string>();
  const pick = async (name: string): Promise<void> => {
    setLoading(name);
    try {
      const { default: examples } = await load(() => import('berth:examples'));
      onSource(sourceOfTexts(name, examples[name] ?? {}));
    } catch (thrown) {
      toast('bad', `The example could not be loaded: ${asApiError(thrown).message}`);
    } finally {
      setLoading(undefined);
    }
  };
  return (
    <ul className="examples">
      {EXAMPLES.map(({ name, title, says }) => (
        <li key={name}>
          <button type="button" className="example" disabled={loading === name} onClick={() => void pick(name)}>
            <strong>{title}</strong>
            <span className="small quiet">{says}</span>
          </button>
        </li>
      ))}
    </ul>
  );
};
