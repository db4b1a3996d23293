import type { Dir } from '../../source-tree.ts';
import type { Has } from './servers.ts';

/** A generator of static sites, written in Python. */
export interface SiteGenerator {
  title: string;
  build: string[];
  output: string;
}

export const findSite = (app: Dir, has: Has): SiteGenerator | null => {
  const mkdocs = app.firstOf('mkdocs.yml', 'mkdocs.yaml');
  if (mkdocs !== undefined && (has('mkdocs') || has('mkdocs-material'))) {
    const output = /^site_dir:\s*["']?([\w./-]+?)["']?\s*(?:#.*)?$/m.exec(app.read(mkdocs) ?? '')?.[1];
    return { title: 'MkDocs', build: ['mkdocs build'], output: output ?? 'site' };
  }
  if (app.has('pelicanconf.py') && has('pelican')) {
    const settings = app.firstOf('publishconf.py') ?? 'pelicanconf.py';
    return { title: 'Pelican', build: [`pelican content -o output -s ${settings}`], output: 'output' };
  }
  return null;
};
