import { afterAll, expect, test } from 'bun:test';
import { appendFile, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { docker } from '#test/support/docker.ts';
import { RealBuilds } from './real-support.ts';

const builds = new RealBuilds();
const folder = await mkdtemp(join(tmpdir(), 'berth-ruby-'));
const packer = new URL('ruby-gems', import.meta.url).pathname;

afterAll(async () => {
  await builds.destroy();
  await rm(folder, { recursive: true, force: true });
});

const GEMFILE = `source "https://rubygems.org"

ruby "~> 3.3.0"

gem "puma"
gem "sinatra"
gem "twice"

group :development do
  gem "rackup"
end
`;

const CONFIG = `require "sinatra"
require "twice"

get("/") { "Sinatra in #{settings.environment}, twice 21 is #{twice(21)}" }
get("/user") { Process.uid.to_s }
run Sinatra::Application
`;

test('Sinatra on puma from vendor/cache: compiled in the build, without compilers and development gems in the image', async () => {
  const dir = join(folder, 'sinatra');
  await mkdir(dir);
  await writeFile(join(dir, 'Gemfile'), GEMFILE);
  await writeFile(join(dir, 'config.ru'), CONFIG);
  await cp(packer, join(folder, 'packer'), { recursive: true });
  await docker(['run', '--rm', '--volume', `${folder}:/work`, 'ruby:3.3', '/work/packer/pack', '/work/sinatra']);
  const { tag } = await builds.build(dir);
  const running = await builds.start(tag);
  expect(await running.get('/').then((response) => response.text())).toBe('Sinatra in production, twice 21 is 42');
  expect(await running.get('/user').then((response) => response.text())).toBe('1000');
  const left = 'command -v gcc make; ls -d /app/vendor/cache; ls -d /usr/local/bundle/ruby/*/gems/rackup-*; true';
  expect(await docker(['exec', running.id, 'sh', '-c', `(${left}) 2>/dev/null`])).toBe('');
  expect(await running.stop()).toBeLessThan(5000);
  await appendFile(join(dir, 'config.ru'), '# an edit\n');
  const again = await builds.build(dir);
  expect(again.cached.join('\n')).toContain('bundle install --local');
}, 300_000);
