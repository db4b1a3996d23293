/** What Debian must add for a package: headers to compile it, libraries to run it. */
interface Need {
  /** May be compiled: the full image has compilers and the usual headers. */
  compiled?: boolean;
  build?: string[];
  run?: string[];
}

const NEEDS: Record<string, Need> = {
  mysqlclient: { compiled: true, run: ['libmariadb3'] },
  'opencv-python': { run: ['libgl1', 'libglib2.0-0'] },
  pdf2image: { run: ['poppler-utils'] },
  psycopg: { run: ['libpq5'] },
  psycopg2: { compiled: true, run: ['libpq5'] },
  pycairo: { compiled: true, build: ['libcairo2-dev'], run: ['libcairo2'] },
  pycurl: { compiled: true, run: ['libcurl4'] },
  pydub: { run: ['ffmpeg'] },
  pygraphviz: { compiled: true, build: ['libgraphviz-dev'], run: ['graphviz'] },
  pyodbc: { run: ['unixodbc'] },
  pytesseract: { run: ['tesseract-ocr'] },
  'python-ldap': { compiled: true, build: ['libldap2-dev', 'libsasl2-dev'], run: ['libldap2', 'libsasl2-2'] },
  'python-magic': { run: ['libmagic1'] },
  uwsgi: { compiled: true, run: ['libpcre2-8-0'] },
  weasyprint: { run: ['libharfbuzz-subset0', 'libpango-1.0-0', 'libpangoft2-1.0-0'] },
};

export interface SystemNeeds {
  compiled: string[];
  build: string[];
  run: string[];
}

export const systemNeeds = (names: ReadonlySet<string>): SystemNeeds => {
  const needs = Object.entries(NEEDS).filter(([name]) => names.has(name));
  return {
    compiled: needs.filter(([, need]) => need.compiled === true).map(([name]) => name),
    build: [...new Set(needs.flatMap(([, need]) => need.build ?? []))].sort(),
    run: [...new Set(needs.flatMap(([, need]) => need.run ?? []))].sort(),
  };
};
