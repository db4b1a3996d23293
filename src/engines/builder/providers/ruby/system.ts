/**
 * What Debian must add for a gem: headers that the full image lacks; programs, libraries that are looked up by name, and
 * those that come with files of their own. What a gem is linked with is taken from the build.
 */
interface Need {
  build?: string[];
  run?: string[];
}

const NEEDS: Record<string, Need> = {
  charlock_holmes: { build: ['libicu-dev'] },
  ethon: { run: ['libcurl4'] },
  image_processing: { run: ['libvips42'] },
  mini_magick: { run: ['imagemagick'] },
  mysql2: { run: ['libmariadb3'] },
  rbnacl: { run: ['libsodium23'] },
  rmagick: { run: ['imagemagick'] },
  'ruby-filemagic': { build: ['libmagic-dev'], run: ['libmagic1'] },
  'ruby-vips': { run: ['libvips42'] },
  rugged: { build: ['cmake', 'pkg-config'] },
  'streamio-ffmpeg': { run: ['ffmpeg'] },
  tiny_tds: { build: ['freetds-dev'] },
};

/** Gems without anything to compile, which the slim image installs as well. */
const PURE = new Set(
  (
    'addressable base64 builder bundler concurrent-ruby csv dotenv forwardable i18n jekyll jwt kramdown liquid logger ' +
    'mime-types mime-types-data multi_json mustermann mutex_m net-http ostruct public_suffix rack rack-protection ' +
    'rack-session rackup rake rexml roda rouge ruby2_keywords sinatra slim terminal-table tilt timeout tzinfo uri webrick'
  ).split(' '),
);

export interface SystemNeeds {
  /** Gems that may be compiled. */
  compiled: string[];
  build: string[];
  run: string[];
}

/** `pure` are gems of the source that have nothing to compile. */
export const systemNeeds = (names: ReadonlySet<string>, pure: ReadonlySet<string>): SystemNeeds => {
  const needs = Object.entries(NEEDS).filter(([name]) => names.has(name));
  return {
    compiled: [...names].filter((name) => !PURE.has(name) && !pure.has(name)).sort(),
    build: [...new Set(needs.flatMap(([, need]) => need.build ?? []))].sort(),
    run: [...new Set(needs.flatMap(([, need]) => need.run ?? []))].sort(),
  };
};
