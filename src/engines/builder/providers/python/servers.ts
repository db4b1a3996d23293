import type { Dir } from '../../source-tree.ts';

/** Which servers and frameworks an app has: `has('fastapi')`, `has('fastapi[standard]')`. */
export type Has = (name: string) => boolean;

export interface Server {
  argv: string[];
  /** The package that the command needs. */
  needs: string;
}

/** What uvicorn comes with when it is not named itself. */
const BRINGS_UVICORN = ['fastapi[standard]', 'fastapi[all]', 'fastapi-cli', 'litestar[standard]', 'uvicorn[standard]'];

/** The packages of a server that are still missing. */
export const missing = (has: Has, { needs }: Server): string[] =>
  has(needs) || (needs === 'uvicorn' && BRINGS_UVICORN.some(has)) ? [] : [needs];

interface Target {
  app: Dir;
  has: Has;
  /** `package.module:object`. */
  target: string;
  /** Folder to import it from; empty for the app's own. */
  folder: string;
  factory?: boolean;
}

/** uvicorn, or hypercorn where that alone is there; both take their port from the command line only. */
export const asgiServer = ({ has, target, folder, factory = false }: Target): Server => {
  if (!has('uvicorn') && !BRINGS_UVICORN.some(has) && has('hypercorn')) {
    const module = folder === '' ? target : `${folder}/${target}`;
    const call = factory ? `'${module}()'` : module;
    return { needs: 'hypercorn', argv: inShell(`hypercorn ${call} --bind "0.0.0.0:\${PORT:-8080}"`) };
  }
  const flags = [...(folder === '' ? [] : ['--app-dir', folder]), ...(factory ? ['--factory'] : [])];
  const words = ['uvicorn', target, '--host 0.0.0.0 --port "${PORT:-8080}"', ...flags];
  return { needs: 'uvicorn', argv: inShell(words.join(' ')) };
};

/**
 * gunicorn, which binds to 0.0.0.0 and PORT by itself, unless only waitress is there. One process and a few threads fit
 * a small memory limit, and one slow client does not stop the app; a gunicorn.conf.py of the app's own decides alone.
 */
export const wsgiServer = ({ app, has, target, folder, factory = false }: Target): Server => {
  if (!has('gunicorn') && has('waitress') && folder === '') {
    const call = factory ? ['--call', target] : [target];
    return { needs: 'waitress', argv: inShell(`waitress-serve --listen "0.0.0.0:\${PORT:-8080}" ${call.join(' ')}`) };
  }
  const own = app.has('gunicorn.conf.py');
  const flags = own ? [] : ['--threads', '4', '--worker-tmp-dir', '/dev/shm'];
  const chdir = folder === '' ? [] : ['--chdir', folder];
  return { needs: 'gunicorn', argv: ['gunicorn', ...flags, ...chdir, factory ? `${target}()` : target] };
};

/** A command with a variable in it: the shell expands it, and makes way. */
export const inShell = (command: string): string[] => ['/bin/sh', '-c', `exec ${command}`];
