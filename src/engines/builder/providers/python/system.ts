import type { Dir } from '../../source-tree.ts';
import { fieldsAt, readToml, textsOf } from '../support/fields.ts';
import type { Has } from './servers.ts';

/** What Debian must add for a package: headers to compile it, libraries to run it. */
interface Need {
  /** Is compiled: the full image has compilers and the usual headers. */
  compiled?: boolean;
  build?: string[];
  run?: string[];
  /** With one of these extras it brings what it needs. */
  unless?: string[];
}

const OPENGL = ['libgl1', 'libglib2.0-0'];

const NEEDS: Record<string, Need> = {
  cairocffi: { run: ['libcairo2'] },
  cairosvg: { run: ['libcairo2'] },
  'ffmpeg-python': { run: ['ffmpeg'] },
  gdal: { compiled: true, build: ['libgdal-dev'], run: ['gdal-bin'] },
  gitpython: { run: ['git'] },
  graphviz: { run: ['graphviz'] },
  lightgbm: { run: ['libgomp1'] },
  mysqlclient: { compiled: true, run: ['libmariadb3'] },
  'openai-whisper': { run: ['ffmpeg'] },
  'opencv-contrib-python': { run: OPENGL },
  'opencv-python': { run: OPENGL },
  pdf2image: { run: ['poppler-utils'] },
  psycopg: { run: ['libpq5'], unless: ['psycopg[binary]', 'psycopg-binary'] },
  'psycopg[c]': { compiled: true, run: ['libpq5'] },
  psycopg2: { compiled: true, run: ['libpq5'] },
  pyaudio: { compiled: true, build: ['portaudio19-dev'], run: ['libportaudio2'] },
  pycairo: { compiled: true, build: ['libcairo2-dev'], run: ['libcairo2'] },
  pycurl: { compiled: true, run: ['libcurl4'] },
  pydub: { run: ['ffmpeg'] },
  pygraphviz: { compiled: true, build: ['libgraphviz-dev'], run: ['graphviz'] },
  pyodbc: { run: ['unixodbc'] },
  pytesseract: { run: ['tesseract-ocr'] },
  'python-ldap': { compiled: true, build: ['libldap2-dev', 'libsasl2-dev'], run: ['libldap2', 'libsasl2-2'] },
  'python-magic': { run: ['libmagic1'] },
  pyzbar: { run: ['libzbar0'] },
  uwsgi: { compiled: true, run: ['libpcre2-8-0'] },
  wand: { run: ['libmagickwand-7.q16-10'] },
  weasyprint: { run: ['libharfbuzz-subset0', 'libpango-1.0-0', 'libpangoft2-1.0-0'] },
  xmlsec: { compiled: true, build: ['libxmlsec1-dev'], run: ['libxmlsec1-openssl'] },
};

export interface SystemNeeds {
  /** Why the full image is taken for the install; empty when the slim one will do. */
  compiled: string[];
  build: string[];
  run: string[];
}

export interface SystemSearch {
  /** Direct dependencies. */
  has: Has;
  /** Those and what they bring in, as far as a lock file tells. */
  hasAny: Has;
  /** A requirement is fetched with git. */
  git: boolean;
}

/** The packages of Debian that the dependencies need. */
export const systemNeeds = ({ has, hasAny, git }: SystemSearch): SystemNeeds => {
  const found = Object.entries(NEEDS).filter(
    ([name, need]) => (need.compiled === true ? has(name) : hasAny(name)) && need.unless?.some(hasAny) !== true,
  );
  const compiled = found.filter(([, need]) => need.compiled === true).map(([name]) => name);
  const build = found.flatMap(([, need]) => need.build ?? []);
  return {
    compiled,
    // The full image has git.
    build: [...new Set(git && compiled.length === 0 ? [...build, 'git'] : build)].sort(),
    run: [...new Set(found.flatMap(([, need]) => need.run ?? []))].sort(),
  };
};

/** Build backends that compile, with what they need besides the full image. */
const BACKENDS: [name: RegExp, apt: string[]][] = [
  [/^(maturin|setuptools-rust)\b/i, ['cargo']],
  [/^(scikit-build(-core)?|meson-python|cython|pybind11|nanobind|cffi|cmake)\b/i, []],
];

/** The Debian packages that the project's own build needs; null when nothing of it is compiled. */
export const nativeBuild = (app: Dir): string[] | null => {
  const requires = textsOf(fieldsAt(readToml(app, 'pyproject.toml'), 'build-system')['requires']);
  const found = BACKENDS.filter(([name]) => requires.some((text) => name.test(text)));
  return found.length === 0 ? null : found.flatMap(([, apt]) => apt);
};
